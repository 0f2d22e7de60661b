/** Hosts that are imported, in memory: what was done on them stays when a controller is killed, and each step can fail or hang. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { AGENT_GROUP, agentUser } from '../../src/api/names.ts';
import { OsError } from '../../src/os/errors.ts';
import { createCertificateRequest } from '../../src/os/x509/certificate-request.ts';
import { SshError, type SshErrorCode } from '../../src/providers/ssh/errors.ts';
import type { ImportHost, ImportHosts, ImportTarget } from '../../src/providers/ssh/import/contract.ts';
import { preflightInput } from '../providers/ssh/preflight/host-output.ts';

export const HOST_KEY = { algorithm: 'ssh-ed25519', fingerprint: `SHA256:${'a'.repeat(43)}` };

export type HostCallName = 'connect' | 'inspect' | 'install' | 'request' | 'deliver' | 'release';

export interface MemoryHost {
  /** The UID of the Machine that it belongs to. */
  owner?: string;
  version?: string;
  key?: KeyObject;
  /** How often a key was made. */
  keys: number;
  certificate?: string;
  released?: string;
  /** What a release cannot remove. */
  left?: readonly string[];
}

export interface MemoryHosts extends ImportHosts {
  /** The calls since this was last asked, as `connect 10.0.0.1`. */
  readonly calls: () => string[];
  readonly host: (address: string) => MemoryHost;
  /** What the call does on the host of this address from now on: throw, or never end. Undefined: it works again. */
  readonly fail: (address: string, call: HostCallName, error: Error | 'hang' | undefined) => void;
  /** Facts that the preflight of this host finds. */
  readonly facts: (address: string, changes: Parameters<typeof preflightInput>[0]) => void;
  /** The most connections at one time. */
  readonly most: () => number;
}

export function sshError(code: SshErrorCode, message = 'it failed'): SshError {
  return new SshError(code, message, { where: 'root@host:22' });
}

export function memoryHosts(): MemoryHosts {
  const hosts = new Map<string, MemoryHost>();
  const faults = new Map<string, Error | 'hang'>();
  const changes = new Map<string, Parameters<typeof preflightInput>[0]>();
  let journal: string[] = [];
  let open = 0;
  let most = 0;

  return {
    connect,
    host,
    calls: () => journal.splice(0),
    most: () => most,
    facts: (address, found) => void changes.set(address, found),
    fail: (address, name, error) => {
      if (error) faults.set(`${name} ${address}`, error);
      else faults.delete(`${name} ${address}`);
    },
  };

  function host(address: string): MemoryHost {
    const found = hosts.get(address) ?? { keys: 0 };
    hosts.set(address, found);
    return found;
  }

  async function call(name: HostCallName, address: string, signal: AbortSignal): Promise<MemoryHost> {
    journal.push(`${name} ${address}`);
    const fault = faults.get(`${name} ${address}`);
    if (fault === 'hang') await hang(signal);
    else if (fault) throw fault;
    return host(address);
  }

  async function connect(target: ImportTarget, signal: AbortSignal): Promise<ImportHost> {
    const { spec, machine, machineUid } = target;
    const { address } = spec;
    open += 1;
    most = Math.max(most, open);
    try {
      await call('connect', address, signal);
    } catch (error) {
      open -= 1;
      throw error;
    }
    return {
      hostKey: HOST_KEY,
      inspect: async () => {
        const { owner } = await call('inspect', address, signal);
        const { facts, started, ended } = preflightInput({
          ...(changes.get(address) ?? { 'machine-id': idOf(address) }),
          ...(owner !== undefined && { path: '/var/lib/kubenode' }),
        });
        return { hostKeys: [HOST_KEY], facts, started, ended };
      },
      install: async () => {
        const found = await call('install', address, signal);
        if (found.owner !== undefined && found.owner !== machineUid) {
          throw new OsError<'HostInUse'>('HostInUse', 'the host belongs to Machine other');
        }
        found.owner = machineUid;
        found.version = '1.0.0';
        return { version: '1.0.0', sha256: 'f'.repeat(64) };
      },
      request: async ({ renew = false } = {}) => {
        const found = await call('request', address, signal);
        if (found.key === undefined || (renew && found.certificate !== undefined)) {
          found.key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
          found.keys += 1;
          delete found.certificate;
        }
        return createCertificateRequest(
          { commonName: agentUser(machine), organization: AGENT_GROUP },
          found.key,
        );
      },
      deliver: async ({ certificatePem }) => {
        (await call('deliver', address, signal)).certificate = certificatePem;
      },
      release: async (cleanup) => {
        const found = await call('release', address, signal);
        found.released = cleanup;
        delete found.owner;
        return { left: found.left ?? [] };
      },
      close: () => {
        open -= 1;
      },
    };
  }
}

function idOf(address: string): string {
  return Buffer.from(address).toString('hex').padStart(32, '0').slice(-32);
}

async function hang(signal: AbortSignal): Promise<void> {
  await new Promise<void>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
