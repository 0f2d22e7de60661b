import { describe, expect, it, onTestFinished } from 'vitest';
import type { Machine, MachineBMC } from '../../../src/api/generated/types.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../src/api/names.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { BmcSecretClient } from '../../../src/providers/power/bmc-secret.ts';
import { endpointOf } from '../../../src/providers/power/bmc-switch.ts';
import { createPowerSwitches } from '../../../src/providers/power/switches.ts';
import type { NoPowerSwitch, PowerSwitch } from '../../../src/providers/power.ts';
import type { OpenProviders } from '../../../src/providers/registry.ts';
import { machine, NOW } from '../../support/builders.ts';
import { memoryProvider } from '../../support/memory-provider.ts';
import { BMC_PASSWORD, BMC_UUID, startBmc, type TestBmc } from '../../support/redfish/bmc-server.ts';

const NEVER = new AbortController().signal;

async function bmc(): Promise<TestBmc> {
  const started = await startBmc({ applies: true });
  onTestFinished(async () => await started[Symbol.asyncDispose]());
  return started;
}

function declared({ endpoint }: TestBmc, changes: Partial<MachineBMC> = {}): MachineBMC {
  const { port, fingerprint } = endpoint;
  const address = `https://127.0.0.1:${port}`;
  return { address, credentialsRef: { name: 'bmc' }, certificateFingerprint: fingerprint, ...changes };
}

function host(changes: Partial<Machine['spec']>, systemUUID: string | undefined = BMC_UUID): Machine {
  const status = systemUUID === undefined ? {} : { import: { systemUUID } };
  return machine('m1', {
    spec: { infra: { provider: 'ssh', config: {} }, ...changes },
    status: { ...status, infra: { providerID: 'ssh:///u-1' } },
  });
}

function secret(use: string, data: Readonly<Record<string, string>> = {}): KubeObject {
  const all = { username: 'admin', password: `${BMC_PASSWORD}\n`, ...data };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bmc', namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: use } },
    data: Object.fromEntries(
      Object.entries(all).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  };
}

function clientOf(object: KubeObject | Error): BmcSecretClient {
  const get = async (): Promise<KubeObject> => {
    if (object instanceof Error) throw object;
    return object;
  };
  return { get } as BmcSecretClient;
}

async function open(
  target: Machine,
  object: KubeObject | Error,
  providers: OpenProviders = {},
): Promise<PowerSwitch | NoPowerSwitch> {
  const switches = createPowerSwitches({
    providers: () => providers,
    secrets: clientOf(object),
    timeoutMs: 10_000,
  });
  return await switches.open(target, 'BMC', NEVER);
}

function requireSwitch(found: PowerSwitch | NoPowerSwitch): PowerSwitch {
  if ('because' in found) throw new Error(found.because);
  return found;
}

describe('the switch of a BMC', () => {
  it('reads and switches the host that the Machine names, by the UUID that its import recorded', async () => {
    const server = await bmc();
    const use = `bmc; 127.0.0.1:${server.endpoint.port}`;
    const power = requireSwitch(await open(host({ bmc: declared(server) }), secret(use)));
    expect([power.way, await power.state(NEVER)]).toEqual(['BMC', 'On']);
    await power.request('Off', NEVER);
    expect(await power.state(NEVER)).toBe('Off');
  });

  it('is that of the host of a pool, unless the Machine names one', async () => {
    const server = await bmc();
    const use = `bmc; 127.0.0.1:${server.endpoint.port}`;
    const ssh = memoryProvider(() => NOW);
    const tags = { clusterUid: 'c', machineUid: 'u-1' };
    const taken = {
      id: 'ssh:///u-1',
      machine: 'm1',
      tags,
      state: 'Running',
      addresses: [],
      createdAt: NOW,
    } as const;
    ssh.instances.set(taken.id, { ...taken, bmc: declared(server) });
    expect(await requireSwitch(await open(host({}), secret(use), { ssh })).state(NEVER)).toBe('On');
    ssh.instances.set(taken.id, taken);
    expect(await open(host({}), secret(use), { ssh })).toHaveProperty('because');
  });

  it('believes the UUID of the spec before that of the import', async () => {
    const server = await bmc();
    const other = declared(server, { systemUUID: 'ffffffff-9e44-4fa7-8e91-f3527a1ef094' });
    const use = `bmc; 127.0.0.1:${server.endpoint.port}`;
    const power = requireSwitch(await open(host({ bmc: other }), secret(use)));
    await expect(power.state(NEVER)).rejects.toThrow('the system of the BMC is another host');
  });

  it.each<[string, string, KubeObject | Error]>([
    ['for another use', 'is "ssh"', secret('ssh')],
    ['for other BMCs', 'does not permit', secret('bmc; 10.0.0.1')],
    ['without annotation', 'does not permit', secret('')],
    ['that does not exist', 'does not exist', new KubeError('NotFound', 'not found')],
  ])('is not opened with a Secret %s, and nothing is sent', async (_, because, object) => {
    const server = await bmc();
    const found = await open(host({ bmc: declared(server) }), object);
    expect('because' in found ? found.because : 'it has a switch').toContain(because);
    expect(server.requests).toEqual([]);
  });

  it('fails as a provider does while the Secret cannot be read', async () => {
    const server = await bmc();
    const call = open(host({ bmc: declared(server) }), new KubeError('Unreachable', 'no route'));
    await expect(call).rejects.toMatchObject({ name: 'ProviderError', code: 'Retryable' });
    const denied = open(host({ bmc: declared(server) }), new KubeError('Forbidden', 'no'));
    await expect(denied).rejects.toMatchObject({ code: 'Auth' });
  });

  it('is missing without BMC, without UUID, and with an invalid address', async () => {
    const server = await bmc();
    const use = secret(`bmc; 127.0.0.1:${server.endpoint.port}`);
    const unknown = machine('m1', {
      spec: { infra: { provider: 'ssh', config: {} }, bmc: declared(server) },
    });
    expect(await open(unknown, use)).toEqual({
      because: 'the system UUID of Machine m1 is not known: set bmc.systemUUID',
    });
    expect(await open(host({}), use)).toHaveProperty('because');
    const strange = declared(server, { address: 'https://admin:x@10.0.0.1' });
    expect(await open(host({ bmc: strange }), use)).toHaveProperty('because');
    expect(server.requests).toEqual([]);
  });
});

describe('endpointOf', () => {
  it.each<[string, string | undefined, number | undefined]>([
    ['https://10.0.7.1', '10.0.7.1', 443],
    ['https://bmc1.example:8443', 'bmc1.example', 8443],
    ['https://[fd00::1]:8443', 'fd00::1', 8443],
    ['http://10.0.7.1', undefined, undefined],
    ['https://10.0.7.1/redfish', undefined, undefined],
    ['https://user@10.0.7.1', undefined, undefined],
    ['https://10.0.7.1?x=1', undefined, undefined],
    ['bmc1', undefined, undefined],
  ])('reads %s', (address, name, port) => {
    const found = endpointOf({ address, certificateFingerprint: 'SHA256:x' }, 1000);
    expect([found?.host, found?.port]).toEqual([name, port]);
  });
});
