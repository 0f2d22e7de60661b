import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { digestOfCa } from '../../../src/agent/identity/known-cluster.ts';
import { identityFiles } from '../../../src/agent/identity/store.ts';
import { ownUnit } from '../../../src/agent/install/own-unit.ts';
import { AGENT_PKI, CLUSTER_CA_FILE, CLUSTER_FILE, REGISTRIES_FILE } from '../../../src/agent/layout.ts';
import { acceptAccess } from '../../../src/agent/takeover/accept.ts';
import { type ImportRecord, writeImportRecord } from '../../../src/agent/takeover/record.ts';
import { requestCertificate } from '../../../src/agent/takeover/request.ts';
import { parseCertificateRequest } from '../../../src/os/x509/certificate-request.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { AgentKilled, crashAt } from '../../support/agent/crashing-host.ts';
import { signRequest } from '../../support/test-signer.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = virtualClock();
const HOUR_MS = 3_600_000;
const SERVER = 'https://10.0.0.1:6443';
const UNIT = { machine: 'n1', program: '/p', port: 0 };
const PATHS = identityFiles(AGENT_PKI);
let host: MemoryHost;

beforeEach(async () => {
  host = createProxyHost(clock);
  await prepare(host);
});

async function prepare(of: MemoryHost): Promise<void> {
  const record: ImportRecord = {
    machine: 'n1',
    at: '2030-01-01T00:00:00Z',
    version: '1.0',
    created: [],
    unit: UNIT,
    keepsProgram: false,
  };
  await writeImportRecord(of.files, record);
  await of.units.write(ownUnit(UNIT));
}

async function request(fields: { machine?: string; renew?: boolean } = {}): Promise<string> {
  return await requestCertificate(host, { machine: 'n1', renew: false, clock, ...fields });
}

function sign(pem: string, hours = 24): string {
  const now = clock.now();
  return signRequest(pem, now, new Date(now.getTime() + hours * HOUR_MS));
}

function keyOf(pem: string): string | undefined {
  return parseCertificateRequest(pem)?.key.sha256;
}

async function accept(certificatePem: string, fields: object = {}): Promise<void> {
  await acceptAccess(host, 'n1', { certificatePem, server: SERVER, ...fields });
}

async function text(path: string): Promise<string | undefined> {
  const content = await host.files.read(path);
  return content && new TextDecoder().decode(content);
}

describe('requestCertificate', () => {
  it('MAC-14 makes the key once, on the host, and prints only the request', async () => {
    const first = await request();
    expect(keyOf(await request())).toBe(keyOf(first));
    expect(first).not.toContain('PRIVATE KEY');
    expect(await host.files.stat(PATHS.pendingKey)).toMatchObject({ mode: '0600' });
    expect(parseCertificateRequest(first)).toMatchObject({
      commonNames: ['kubenode:agent:n1'],
      organizations: ['kubenode:agents'],
    });
  });

  it('MAC-10 repeats the request of the certificate in use, so that an interrupted caller finds it again', async () => {
    const first = await request();
    await accept(sign(first));
    expect(keyOf(await request())).toBe(keyOf(first));
    expect(await host.files.stat(PATHS.pendingKey)).toBeUndefined();
  });

  it.each([
    ['when a person raised the epoch of the agent', { renew: true }, 24],
    ['when the certificate has ended', {}, -1],
  ])('makes another key %s, once', async (_, fields, hours) => {
    const first = await request();
    await accept(sign(first, hours));
    const second = await request(fields);
    expect(keyOf(second)).not.toBe(keyOf(first));
    expect(keyOf(await request(fields))).toBe(keyOf(second));
  });

  it('MAC-21 refuses the host of another Machine', async () => {
    await expect(request({ machine: 'n2' })).rejects.toMatchObject({ code: 'HostInUse' });
  });
});

describe('acceptAccess', () => {
  it('stores what the agent needs to reach its API server, and starts it', async () => {
    const ca = sign(await request());
    await accept(sign(await request()), { ca });
    expect(await text(CLUSTER_FILE)).toBe(
      `{"server":"${SERVER}","hasCa":true,"caSha256":"${digestOfCa(ca)}"}`,
    );
    expect(await text(CLUSTER_CA_FILE)).toBe(ca);
    expect(await text(PATHS.certificate)).toMatch(/BEGIN CERTIFICATE[^]+BEGIN PRIVATE KEY/);
    expect(await host.units.status(ownUnit(UNIT))).toMatchObject({ active: 'Active', enabled: true });
  });

  it('stores the credentials of registries before the agent starts', async () => {
    const registries = '{"auths": {"r.example.com": {"auth": "b25l"}}}';
    const certificatePem = sign(await request());
    const { host: observed, calls } = crashAt(host);
    await acceptAccess(observed, 'n1', { certificatePem, server: SERVER, registries });
    expect(await text(REGISTRIES_FILE)).toBe(registries);
    const order = [`files.write ${REGISTRIES_FILE}`, 'units.start kubenode-agent'];
    expect(calls.filter((call) => order.includes(call))).toEqual(order);
  });

  it('starts nothing where the host has a file of credentials of its own', async () => {
    const attributes = { mode: '0600', owner: 'root:root' };
    await host.files.write(REGISTRIES_FILE, new TextEncoder().encode('theirs'), attributes);
    const registries = '{"auths": {}}';
    await expect(accept(sign(await request()), { registries })).rejects.toMatchObject({ code: 'FileInUse' });
    expect(await text(REGISTRIES_FILE)).toBe('theirs');
    expect(host.units.starts.get('kubenode-agent')).toBeUndefined();
  });

  it('starts the agent once when it is repeated, and again for another server', async () => {
    const certificate = sign(await request());
    await accept(certificate);
    await accept(certificate);
    expect(host.units.starts.get('kubenode-agent')).toBe(1);
    await accept(certificate, { server: 'https://10.0.0.2:6443' });
    expect(host.units.starts.get('kubenode-agent')).toBe(2);
  });

  it('HOS-22 keeps the CA of a rotation when it is repeated, and takes another one', async () => {
    const certificate = sign(await request());
    const [ca, other, rotated] = [certificate, sign(await request()), 'the CA of a rotation'];
    await accept(certificate, { ca });
    const attributes = { mode: '0644', owner: 'root:root' };
    await host.files.write(CLUSTER_CA_FILE, new TextEncoder().encode(rotated), attributes);
    await accept(certificate, { ca });
    expect(await text(CLUSTER_CA_FILE)).toBe(rotated);
    expect(host.units.starts.get('kubenode-agent')).toBe(1);
    await accept(certificate, { ca: other });
    expect(await text(CLUSTER_CA_FILE)).toBe(other);
    expect(host.units.starts.get('kubenode-agent')).toBe(2);
  });

  it('MAC-10 can be repeated when it was killed at any call', async () => {
    const { calls } = await acceptKilled();
    for (const call of calls.keys()) {
      host = createProxyHost(clock);
      await prepare(host);
      const certificate = sign(await request());
      const point = { call: call + 1, when: 'after' as const };
      const access = { certificatePem: certificate, server: SERVER };
      await expect(acceptAccess(crashAt(host, point).host, 'n1', access)).rejects.toThrow(AgentKilled);
      await accept(certificate);
      expect(await host.units.status(ownUnit(UNIT))).toMatchObject({ active: 'Active', enabled: true });
      expect(await host.files.stat(PATHS.pendingKey)).toBeUndefined();
    }
  });

  it.each<[name: string, code: string, certificate: () => Promise<string>]>([
    ['text that is not a certificate', 'BadInput', async () => 's3cret'],
    ['a certificate for another key', 'WrongCertificate', otherKey],
    ['a certificate for another Machine', 'WrongCertificate', otherMachine],
  ])('MAC-14 refuses %s, and does not repeat it', async (_, code, certificate) => {
    await request();
    const pem = await certificate();
    const error: unknown = await accept(pem).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toContain('s3cret');
    expect(await text(PATHS.certificate)).toBeUndefined();
    expect(await text(CLUSTER_FILE)).toBeUndefined();
  });
});

async function acceptKilled(): Promise<{ readonly calls: readonly string[] }> {
  const crashing = crashAt(host);
  await acceptAccess(crashing.host, 'n1', { certificatePem: sign(await request()), server: SERVER });
  return crashing;
}

async function otherKey(): Promise<string> {
  const other = createProxyHost(clock);
  return sign(await requestCertificate(other, { machine: 'n1', renew: false, clock }));
}

async function otherMachine(): Promise<string> {
  const other = createProxyHost(clock);
  return sign(await requestCertificate(other, { machine: 'n2', renew: false, clock }));
}
