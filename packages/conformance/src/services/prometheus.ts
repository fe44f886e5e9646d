import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findPart } from './parts.ts'
import { freePort, type Service, startService, temporaryFolder } from './service.ts'

const DEPLOY = join(import.meta.dirname, '../../../../deploy/prometheus')

export interface PrometheusService extends Service {
  /** The values of a query now, by its labels. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>
}

/** A real Prometheus with the configuration and the alerts of `deploy`, that scrapes the port several times a second. */
export async function startPrometheus(scrapedPort: number): Promise<PrometheusService> {
  const binary = findPart('prometheus')
  if (binary === undefined) throw new Error('prometheus is not installed')
  const port = await freePort()
  const folder = await temporaryFolder('prometheus')
  const config = await readFile(join(DEPLOY, 'prometheus.yaml'), 'utf8')
  const hasty = config.replace('scrape_interval: 15s', 'scrape_interval: 200ms\n  scrape_timeout: 200ms')
  await writeFile(join(folder, 'prometheus.yaml'), hasty.replace('127.0.0.1:8080', `127.0.0.1:${scrapedPort}`))
  await writeFile(join(folder, 'alerts.yaml'), await readFile(join(DEPLOY, 'alerts.yaml')))
  const url = `http://127.0.0.1:${port}`
  const args = ['--config.file=prometheus.yaml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`]
  const ready = async () => (await fetch(`${url}/-/ready`)).status === 200
  const service = await startService(binary, args, { port, folder }, ready)
  const query: PrometheusService['query'] = async (expression) => {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`)
    return ((await answer.json()) as { data: { result: Awaited<ReturnType<PrometheusService['query']>> } }).data.result
  }
  return { ...service, query }
}
