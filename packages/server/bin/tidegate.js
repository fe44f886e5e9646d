#!/usr/bin/env node
// There before the build is, so that npm links it.
import '../dist/main.js'
