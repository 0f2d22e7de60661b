/** Carries out one step of an import on the host: a connection for each, which is closed when the step ends. */
import type { Machine } from '../../../../api/generated/types.ts';
import { NAMESPACE } from '../../../../api/names.ts';
import { readSecret, SecretError } from '../../../../api/secrets/read.ts';
import { secretReferences } from '../../../../api/secrets/references.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { SECRETS } from '../../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../../kube/objects/json.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Clock } from '../../../../os/clock.ts';
import type {
  DeliveredAccess,
  ImportHost,
  ImportHosts,
  ImportSecret,
} from '../../../../providers/ssh/import/contract.ts';
import type { ServerAddress } from '../../../../providers/ssh/preflight/check.ts';
import { isRegisteringAgain } from '../attempt.ts';
import type { ImportStep, ImportStepResult } from '../plan.ts';
import { judgeHost } from '../preflight.ts';

export interface ImportParts {
  readonly hosts: ImportHosts;
  readonly clock: Clock;
  /** The client of kubenode-machine, which reads the Secrets with SSH keys. */
  readonly client: Pick<Client, 'get'>;
  /** Resolves to the API server, as hosts reach it. */
  readonly access: () => Promise<Omit<DeliveredAccess, 'certificatePem'>>;
  /** How many hosts are worked on at once. */
  readonly atOnce?: number;
}

/** The keys that the Secret may have beside that of `credentialsRef`. */
const PASSPHRASE = 'ssh-passphrase';
const SUDO_PASSWORD = 'sudo-password';

/** Returns a step as a function of the signal. The certificate is that of the request, in base64. */
export async function runStep(
  step: ImportStep,
  { machine, certificate }: { readonly machine: Machine; readonly certificate?: string },
  { parts, signal }: { readonly parts: ImportParts; readonly signal: AbortSignal },
): Promise<ImportStepResult> {
  return await withHost(machine, parts, signal, async (host) => {
    if (step === 'Connect') return { step, hostKey: host.hostKey };
    if (step === 'Preflight') return { step, ...(await inspect(host, machine, parts)) };
    if (step === 'Install') return { step, version: (await host.install()).version };
    if (step === 'Request') return { step, requestPem: await request(host, machine) };
    const certificatePem = Buffer.from(certificate ?? '', 'base64').toString('utf8');
    await host.deliver({ ...(await parts.access()), certificatePem });
    return { step };
  });
}

/** Connects to the host, and closes the connection in any case. */
export async function withHost<T>(
  machine: Machine,
  { hosts, client }: ImportParts,
  signal: AbortSignal,
  work: (host: ImportHost) => Promise<T>,
): Promise<T> {
  const { metadata, spec, status } = machine;
  if (!spec.import) throw new Error(`Machine ${metadata.name} has no spec.import`);
  const secret = await readImportSecret(machine, client, signal);
  const host = await hosts.connect(
    {
      machine: metadata.name,
      machineUid: metadata.uid ?? '',
      spec: spec.import,
      ...optional('knownHostKey', status?.import?.hostKey),
      secret,
    },
    signal,
  );
  try {
    return await work(host);
  } finally {
    host.close();
  }
}

/** A host that has no agent any more gets the program again before it makes another key. */
async function request(host: ImportHost, machine: Machine): Promise<string> {
  if (!isRegisteringAgain(machine)) return await host.request();
  await host.install();
  return await host.request({ renew: true });
}

async function inspect(
  host: ImportHost,
  machine: Machine,
  { access }: ImportParts,
): Promise<ReturnType<typeof judgeHost>> {
  const server = addressOf((await access()).server);
  return judgeHost(machine, await host.inspect(server), server);
}

function addressOf(server: string): ServerAddress {
  const { hostname, port } = new URL(server);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 443 : Number(port) };
}

/** Throws a SecretError for a Secret that is missing or does not permit its use. */
async function readImportSecret(
  machine: Machine,
  client: Pick<Client, 'get'>,
  signal: AbortSignal,
): Promise<ImportSecret> {
  const [reference] = secretReferences('Machine', machine);
  if (!reference) throw new SecretError(`Machine ${machine.metadata.name} references no Secret`);
  const name = { name: reference.name, namespace: NAMESPACE };
  const secret = await unlessMissing(client.get(SECRETS, name, { signal }));
  const privateKey = readSecret({ get: () => secret }, reference, 'nowhere');
  const value = (key: string): string | undefined => {
    const encoded = secret && textAt(secret, 'data', key);
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  };
  return {
    privateKey,
    ...optional('passphrase', value(PASSPHRASE)),
    ...optional('sudoPassword', value(SUDO_PASSWORD)),
  };
}
