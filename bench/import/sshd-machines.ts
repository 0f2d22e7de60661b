/** Hosts behind real sshd, one for each: the scripts of an import run in a root folder of their own, with a stand-in for the agent program. */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AGENT_GROUP, agentUser } from '../../src/api/names.ts';
import { createCertificateRequest } from '../../src/os/x509/certificate-request.ts';
import type { DeliveredAccess } from '../../src/providers/ssh/import/contract.ts';
import { type SshdHosts, startSshdHosts } from '../../test/providers/ssh/pool/sshd-hosts.ts';
import type { UserKey } from '../../test/providers/ssh/sshd.ts';
import type { HostToImport } from '../../test/support/imported-fleet.ts';
import { runDeliveredAgent } from '../../test/support/simulated-host.ts';

/** What this machine is, or runs beside the measurement, and a host of its own is not. */
const SKIP_CHECKS = ['Systemd', 'DuplicateHost', 'Ports', 'Kubelet', 'ContainerRuntime', 'CNI'];

export interface SshdMachine extends AsyncDisposable {
  readonly host: HostToImport;
}

export async function startSshdMachine(
  folder: string,
  { name, key }: { readonly name: string; readonly key: UserKey },
): Promise<SshdMachine> {
  const hosts = await startSshdHosts(folder, 1, key);
  const [address = ''] = hosts.addresses;
  const stop = new AbortController();
  const agent = runAgent(hosts, name, stop.signal);
  return {
    host: { name, address, port: hosts.port, hostKeys: hosts.hostKeys, skipChecks: SKIP_CHECKS },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await agent;
      await hosts.close();
    },
  };
}

/** Prepares the request of the stand-in, and runs a simulated agent once its certificate is delivered. */
async function runAgent({ root, addresses }: SshdHosts, machine: string, signal: AbortSignal): Promise<void> {
  const folder = root(addresses[0] ?? '');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = { commonName: agentUser(machine), organization: AGENT_GROUP };
  writeFileSync(join(folder, 'csr'), createCertificateRequest(subject, privateKey));
  const accepted = join(folder, 'var/lib/kubenode/accepted');
  while (!signal.aborted) {
    const access = existsSync(accepted) ? parse(readFileSync(accepted, 'utf8')) : undefined;
    if (access) return await runDeliveredAgent(machine, { access, privateKey, signal });
    // oxlint-disable-next-line no-await-in-loop -- looks again until it is there
    await pause(200);
  }
}

/** Undefined while the host writes it. */
function parse(text: string): DeliveredAccess | undefined {
  try {
    return JSON.parse(text) as DeliveredAccess;
  } catch {
    return undefined;
  }
}
