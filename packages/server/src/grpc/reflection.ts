import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import type { Server } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'

/** Lets clients such as grpcurl ask which services there are, and what their messages look like. */
export function addReflection(server: Server, services: readonly DescService[]): void {
  const files = new Set<DescFile>()
  for (const { file } of services) collect(file, files)
  const fileDescriptorProtos = [...files].map(({ proto }) => Buffer.from(toBinary(FileDescriptorProtoSchema, proto)))
  // What the package reads of a definition is its files alone.
  const all = { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos }
  new ReflectionService({ all } as unknown as ConstructorParameters<typeof ReflectionService>[0]).addToServer(server)
}

function collect(file: DescFile, files: Set<DescFile>): void {
  if (files.has(file)) return
  files.add(file)
  for (const dependency of file.dependencies) collect(dependency, files)
}
