import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Limit, RateLimitModule, SkipLimit } from 'tidegate/nestjs'

@Controller()
class AppController {
  @Get()
  hello(): string {
    return 'hello\n'
  }

  // Its own limit besides that of the application, decided in one step.
  @Get('login')
  @Limit({ limit: 1, window: '1m' })
  login(): string {
    return 'welcome\n'
  }

  @Get('health')
  @SkipLimit()
  health(): string {
    return 'well\n'
  }
}

@Module({ imports: [RateLimitModule.forRoot({ limit: 5, window: '1m' })], controllers: [AppController] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
await app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1')
console.log(`${await app.getUrl()}/`)
