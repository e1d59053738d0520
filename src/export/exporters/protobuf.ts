import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';

/** A module of its own, since a CommonJS package that is itself imported on demand loses its names in a bundle. */
export const createExporter = (): OTLPTraceExporter => new OTLPTraceExporter();
