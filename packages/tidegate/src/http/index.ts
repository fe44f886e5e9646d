export { rateLimitHeaders } from './headers.ts'
