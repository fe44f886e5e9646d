import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Gate } from 'tidegate'
import type { Rule } from 'tidegate/store'
import { appliesText, limitText, particularsText, windowText } from '../text/rule-text.ts'

/** `GET /`: what this is, the rules it serves, and a form to try a request. */
export async function startPageRoute(server: FastifyInstance, { gate }: { gate: Gate }): Promise<void> {
  const script = readPublic('start-page.js')
  const style = readPublic('start-page.css')
  const template = fill(readPublic('start-page.html'), {
    style: `<style>${style}</style>`,
    script: `<script type="module">${script}</script>`,
  })
  const page = (): string => {
    const skipped = gate.skipped()
    const rows = gate.rules.map((rule) => ruleRow(rule, skipped.get(rule.name) ?? 0))
    return fill(template, { version: escapeHtml(gate.version), rules: rows.join('\n') })
  }
  const headers = {
    'content-security-policy': policy(script, style),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  }
  server.get('/', async (_request, reply) => reply.headers(headers).type('text/html; charset=utf-8').send(page()))
}

/** Nothing may run or be fetched but this page's own two blocks and this service's own answers. */
function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    "connect-src 'self'",
    // The empty icon, without which browsers ask for /favicon.ico.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

function ruleRow(rule: Rule, skipped: number): string {
  const { name, key, description } = rule
  const notes = [description ?? '', particularsText(rule)].filter((text) => text !== '')
  const cells = [
    `<th scope="row">${escapeHtml(name)}${notes.map((text) => `<p>${escapeHtml(text)}</p>`).join('')}</th>`,
    `<td>${escapeHtml(appliesText(rule))}</td>`,
    `<td>${escapeHtml(key.join(', ') || 'all together')}</td>`,
    `<td class="number">${escapeHtml(limitText(rule))}</td>`,
    `<td class="number">${escapeHtml(windowText(rule))}</td>`,
    `<td class="number skipped">${skipped.toLocaleString('en-US')}</td>`,
  ]
  return `<tr>${cells.join('')}</tr>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}

/** Puts each part where the template has `<!-- name -->`. */
function fill(template: string, parts: Record<string, string>): string {
  return template.replace(/<!-- (\w+) -->/g, (comment, name: string) => parts[name] ?? comment)
}

/** Found from `src` and from `dist` alike. */
function readPublic(name: string): string {
  return readFileSync(new URL(`../../public/${name}`, import.meta.url), 'utf8')
}
