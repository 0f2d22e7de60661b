import { describe, expect, it } from 'vitest';
import { readTraceSettings, type TraceFlags } from '../../../../src/observability/trace/otlp/settings.ts';
import { messageOf } from '../../../../src/os/errors.ts';

type Env = Readonly<Record<string, string>>;

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('DAT-10 the settings of traces', () => {
  it.each<[name: string, flags: TraceFlags, env: Env]>([
    ['without an endpoint', {}, {}],
    [
      'with an empty endpoint',
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' },
    ],
    ['with headers alone', {}, { OTEL_EXPORTER_OTLP_HEADERS: 'a=b' }],
    ['with OTEL_SDK_DISABLED', { otlpEndpoint: 'http://collector:4318' }, { OTEL_SDK_DISABLED: 'True' }],
  ])('turn traces off %s', (_, flags, env) => {
    expect(readTraceSettings(flags, env, '1.2.3')).toBeUndefined();
  });

  it.each<[flag: string | undefined, env: Env, url: string]>([
    ['http://collector:4318', {}, 'http://collector:4318/v1/traces'],
    ['http://collector:4318/', {}, 'http://collector:4318/v1/traces'],
    ['https://otel.example.com/otlp', {}, 'https://otel.example.com/otlp/v1/traces'],
    ['https://otel.example.com/v1/traces', {}, 'https://otel.example.com/v1/traces'],
    ['http://flag:4318', BASE, 'http://flag:4318/v1/traces'],
    [
      'http://flag:4318',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://own/t' },
      'http://flag:4318/v1/traces',
    ],
    [undefined, BASE, 'http://collector:4318/v1/traces'],
    // The URL of the signal is used as it is.
    [undefined, { ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://own/t' }, 'http://own/t'],
  ])('send for the option %s and the variables %o to %s', (otlpEndpoint, env, url) => {
    expect(readTraceSettings({ otlpEndpoint }, env, '1.2.3')).toMatchObject({ url });
  });

  it('have the headers of the signal, or else those of all signals, decoded', () => {
    const all = { ...BASE, OTEL_EXPORTER_OTLP_HEADERS: ' authorization=Bearer%20abc=, x-team = nodes ,' };
    expect(readTraceSettings({}, all, '1.2.3')?.headers).toEqual({
      authorization: 'Bearer abc=',
      'x-team': 'nodes',
    });
    const own = { ...all, OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=b' };
    expect(readTraceSettings({}, own, '1.2.3')?.headers).toEqual({ a: 'b' });
  });

  it('describe the process, with what the variables add', () => {
    expect(readTraceSettings({}, BASE, '1.2.3')?.resource).toEqual({
      'service.name': 'kubenode',
      'service.version': '1.2.3',
    });
    const env = {
      ...BASE,
      OTEL_SERVICE_NAME: 'nodes',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.cluster.name=old,team=a%2Cb',
    };
    expect(readTraceSettings({ otlpCluster: 'prod-eu-1' }, env, '1.2.3')?.resource).toEqual({
      'service.name': 'nodes',
      'service.version': '1.2.3',
      'k8s.cluster.name': 'prod-eu-1',
      team: 'a,b',
    });
  });

  it('have the service name of the attributes where OTEL_SERVICE_NAME is not set', () => {
    const env = { ...BASE, OTEL_RESOURCE_ATTRIBUTES: 'service.name=nodes' };
    expect(readTraceSettings({}, env, '1.2.3')?.resource['service.name']).toBe('nodes');
    const own = { ...env, OTEL_SERVICE_NAME: 'own' };
    expect(readTraceSettings({}, own, '1.2.3')?.resource['service.name']).toBe('own');
  });

  it.each<[env: Env, message: string]>([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
      'OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https URL without a user',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a:secret@b' },
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: expected an http or https URL without a user',
    ],
    [
      { ...BASE, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL: expected http/json, got grpc',
    ],
    [
      { ...BASE, OTEL_EXPORTER_OTLP_HEADERS: 'a=b,secret' },
      'OTEL_EXPORTER_OTLP_HEADERS: expected key=value,key=value with percent-encoded values; entry 2 is not',
    ],
    [
      { ...BASE, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret%ZZ' },
      'OTEL_EXPORTER_OTLP_HEADERS: expected key=value,key=value with percent-encoded values; entry 1 is not',
    ],
  ])('refuse %o, and never quote a secret', (env, message) => {
    const found = messageOfFailure(() => readTraceSettings({}, env, '1.2.3'));
    expect(found).toBe(message);
    expect(found).not.toContain('secret');
  });

  it('take the protocol http/protobuf, because the collector takes both at one port', () => {
    const env = { ...BASE, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' };
    expect(readTraceSettings({}, env, '1.2.3')).toBeDefined();
  });
});

function messageOfFailure(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
