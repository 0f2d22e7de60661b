/** Reads where traces are sent, and what describes this process, from a flag and the variables of OpenTelemetry. Pure. */
import type { TraceAttributes } from '../trace.ts';

export interface TraceFlags {
  /** The URL of the collector, without the path of traces. */
  readonly otlpEndpoint?: string | undefined;
  /** The name of the cluster in which this process runs. */
  readonly otlpCluster?: string | undefined;
}

export interface TraceSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: TraceAttributes;
}

type Env = Readonly<Record<string, string | undefined>>;

const SERVICE = 'kubenode';
/** The path of the signal below the base URL of a collector. */
const TRACES_PATH = '/v1/traces';

/** Undefined: traces are off. Throws an Error without any value of a variable, because headers are secrets. */
export function readTraceSettings(flags: TraceFlags, env: Env, version: string): TraceSettings | undefined {
  const url = traceUrl(flags, env);
  if (url === undefined || isSdkDisabled(env)) return undefined;
  checkProtocol(env);
  const headers = variableOf(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS');
  const attributes = env['OTEL_RESOURCE_ATTRIBUTES'];
  const { otlpCluster: cluster } = flags;
  return {
    url,
    headers: headers ? Object.fromEntries(pairsOf(headers.name, headers.text)) : {},
    resource: {
      'service.name': SERVICE,
      ...(attributes ? Object.fromEntries(pairsOf('OTEL_RESOURCE_ATTRIBUTES', attributes)) : {}),
      ...(env['OTEL_SERVICE_NAME'] ? { 'service.name': env['OTEL_SERVICE_NAME'] } : {}),
      'service.version': version,
      ...(cluster === undefined ? {} : { 'k8s.cluster.name': cluster }),
    },
  };
}

/** OpenTelemetry asks that it turns a program's traces off, whatever else is set. */
export function isSdkDisabled(env: Env): boolean {
  return env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
}

function traceUrl({ otlpEndpoint }: TraceFlags, env: Env): string | undefined {
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (otlpEndpoint === undefined && own) return checkedUrl(own, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const base = otlpEndpoint ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!base) return undefined;
  const name = otlpEndpoint === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : '--otlp-endpoint';
  const trimmed = checkedUrl(base, name).replace(/\/+$/, '');
  return trimmed.endsWith(TRACES_PATH) ? trimmed : `${trimmed}${TRACES_PATH}`;
}

function checkedUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isHttp && url.username === '' && url.password === '') return text;
  throw new Error(`${name}: expected an http or https URL without a user`);
}

/** A collector takes JSON at the port for HTTP, whichever of its encodings a program uses. */
function checkProtocol(env: Env): void {
  const found = variableOf(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (found?.text === 'grpc') throw new Error(`${found.name}: expected http/json, got grpc`);
}

interface Variable {
  readonly name: string;
  readonly text: string;
}

/** Returns the first that is set. An empty one counts as not set. */
function variableOf(env: Env, ...names: readonly string[]): Variable | undefined {
  return names.flatMap((name) => (env[name] ? [{ name, text: env[name] }] : []))[0];
}

/** The form of the variables is that of W3C Baggage: `key=value,key=value`, with percent-encoded values. */
function pairsOf(name: string, text: string): readonly (readonly [string, string])[] {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return parts.map((part, index) => {
    const at = part.indexOf('=');
    const key = part.slice(0, Math.max(at, 0)).trim();
    const value = decoded(part.slice(at + 1).trim());
    if (key === '' || value === undefined) {
      throw new Error(
        `${name}: expected key=value,key=value with percent-encoded values; entry ${index + 1} is not`,
      );
    }
    return [key, value] as const;
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
