import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { findPart, howToInstall } from './services/parts.ts'
import { type PrometheusService, startPrometheus } from './services/prometheus.ts'
import type { Service } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'
import { waitFor } from './services/wait-for.ts'

const deploy = join(import.meta.dirname, '../../../deploy')
const read = (name: string) => readFileSync(join(deploy, name), 'utf8')
const RULES = 'rules:\n  - { name: per-user, key: [user], limit: 1, window: 1m }\n'

let tidegate: Service
beforeAll(async () => {
  tidegate = await startTidegate(RULES)
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"descriptor":{"user":"u1"}}' }
  for (let i = 0; i < 3; i++) await fetch(`http://127.0.0.1:${tidegate.port}/v1/limit`, init)
})
afterAll(() => tidegate?.stop())

const metrics = async () => (await fetch(`http://127.0.0.1:${tidegate.port}/metrics`)).text()

test.each(['grafana/tidegate.json', 'prometheus/alerts.yaml'])('%s asks for metrics that there are', async (name) => {
  const there = new Set([...(await metrics()).matchAll(/^# TYPE (\S+)/gm)].map(([, metric]) => metric))
  const named = [...read(name).matchAll(/\b((?:tidegate|nodejs|process)_[a-z0-9_]+)/g)].map(([metric]) => metric)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((metric) => !there.has(metric.replace(/_(?:bucket|count|sum)$/, '')))).toEqual([])
})

const missing = (['prometheus', 'promtool'] as const).filter((part) => findPart(part) === undefined)
describe.skipIf(missing.length > 0)(`Prometheus ${missing.map(howToInstall).join(', ')}`, () => {
  const promtool = (args: string[], input = '') =>
    spawnSync(findPart('promtool') as string, args, { cwd: join(deploy, 'prometheus'), input, encoding: 'utf8' })

  test('the alert rules and the configuration are good ones', () => {
    expect(promtool(['check', 'config', '--lint-fatal', 'prometheus.yaml'])).toMatchObject({ status: 0, stderr: '' })
    expect(promtool(['check', 'rules', 'alerts.yaml'])).toMatchObject({ status: 0, stderr: '' })
  })

  test('alerts fire on what they are for', () => {
    const { status, stdout, stderr } = promtool(['test', 'rules', 'alerts.test.yaml'])
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')])
  })

  test('the metrics of this project are named as is usual', async () => {
    const own = (await metrics()).split('\n').filter((line) => /^(?:# \w+ )?tidegate_/.test(line))
    expect(promtool(['check', 'metrics'], `${own.join('\n')}\n`)).toMatchObject({ status: 0, stdout: '', stderr: '' })
  })

  describe('scrapes', () => {
    let prometheus: PrometheusService
    beforeAll(async () => {
      prometheus = await startPrometheus(tidegate.port)
    })
    afterAll(() => prometheus?.stop())

    test('decisions, by rule and outcome', async () => {
      await waitFor('a scrape', async () => (await prometheus.query('up{job="tidegate"} == 1')).length === 1)
      const refused = 'tidegate_decisions_total{rule="per-user",outcome="refused"}'
      await waitFor('the decisions', async () => (await prometheus.query(refused))[0]?.value[1] === '2')
      const seconds = await prometheus.query('tidegate_request_duration_seconds_count{endpoint="/v1/limit"}')
      expect(seconds[0]?.value[1]).toBe('3')
    })
  })
})

describe('Kubernetes', () => {
  interface Manifest {
    apiVersion: string
    kind: string
    metadata: { name: string; labels: Record<string, string> }
    spec: never
  }
  const manifests = parseAllDocuments(read('kubernetes/tidegate.yaml')).map((one) => one.toJS() as Manifest)
  const find = (kind: string) =>
    manifests.find((one) => one.kind === kind) as unknown as { spec: Record<string, unknown> }

  test('each has a kind, a name and the label that it is found by', () => {
    expect(manifests.map(({ kind }) => kind)).toEqual([
      ...['ConfigMap', 'Secret', 'Deployment', 'Service', 'PodDisruptionBudget'],
    ])
    for (const { apiVersion, metadata } of manifests) {
      expect(apiVersion).toMatch(/^(?:apps\/|policy\/)?v1$/)
      expect(metadata).toMatchObject({ name: 'tidegate', labels: { 'app.kubernetes.io/name': 'tidegate' } })
    }
  })

  test('what refers to something refers to what is there', () => {
    const labels = { 'app.kubernetes.io/name': 'tidegate' }
    const { template, selector } = find('Deployment').spec
    expect([selector, find('PodDisruptionBudget').spec['selector']]).toEqual([
      { matchLabels: labels },
      { matchLabels: labels },
    ])
    const pod = template as {
      metadata: { labels: object }
      spec: { containers: [Record<string, unknown>]; volumes: [{ name: string }] }
    }
    expect(pod.metadata.labels).toEqual(labels)
    const [container] = pod.spec.containers
    const ports = (container['ports'] as { name: string }[]).map(({ name }) => name)
    const targets = (find('Service').spec['ports'] as { targetPort: string }[]).map(({ targetPort }) => targetPort)
    expect(targets).toEqual(ports)
    expect(container).toMatchObject({
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
      volumeMounts: [{ name: pod.spec.volumes[0].name }],
    })
  })

  test('its rules are rules', async () => {
    const [config] = manifests as unknown as [{ data: Record<string, string> }]
    const service = await startTidegate(config.data['rules.yaml'] as string)
    await service.stop()
  })
})

test('the compose file names the Dockerfile and files that there are', () => {
  const { services } = parse(read('docker/compose.yaml')) as {
    services: Record<string, { volumes?: string[]; build?: object }>
  }
  expect(services['tidegate']?.build).toEqual({ context: '../..', dockerfile: 'deploy/docker/Dockerfile' })
  const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.map((one) => one.split(':')[0] as string),
  )
  for (const file of mounted) expect(readFileSync(join(deploy, 'docker', file)).length).toBeGreaterThan(0)
  expect(read('docker/Dockerfile')).toContain('packages/server/dist/main.js')
})
