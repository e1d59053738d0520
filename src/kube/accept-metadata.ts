/** The Accept header that asks for metadata alone; a server that cannot do that sends all. */
export function acceptMetadata(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}
