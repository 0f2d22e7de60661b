/** Carries out one step of an import on the host: a connection for each, which is closed when the step ends. */
import type { Machine } from '../../../../api/generated/types.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Clock } from '../../../../os/clock.ts';
import type {
  DeliveredAccess,
  ImportHost,
  ImportHosts,
  ImportTarget,
} from '../../../../providers/ssh/import/contract.ts';
import type { ServerAddress } from '../../../../providers/ssh/preflight/check.ts';
import { isRegisteringAgain } from '../attempt.ts';
import type { ImportStep, ImportStepResult } from '../plan.ts';
import { judgeHost } from '../preflight.ts';
import { readImportSecret, type SecretPurpose } from './import-secret.ts';

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

/** Works on the host of a Machine. */
export async function withHost<T>(
  { metadata: { name, uid = '', deletionTimestamp }, spec, status }: Machine,
  parts: ImportParts,
  signal: AbortSignal,
  work: (host: ImportHost) => Promise<T>,
): Promise<T> {
  if (!spec.import) throw new Error(`Machine ${name} has no host to import`);
  const known = optional('knownHostKey', status?.import?.hostKey);
  return await withTarget(
    { machine: name, machineUid: uid, spec: spec.import, ...known },
    { parts, signal, purpose: deletionTimestamp === undefined ? 'Import' : 'Connect' },
    work,
  );
}

interface ConnectOptions {
  readonly parts: Pick<ImportParts, 'hosts' | 'client'>;
  readonly signal: AbortSignal;
  readonly purpose?: SecretPurpose;
}

/** Connects to a host, and closes the connection in any case. */
export async function withTarget<T>(
  target: Omit<ImportTarget, 'secret'>,
  { parts, signal, purpose = 'Connect' }: ConnectOptions,
  work: (host: ImportHost) => Promise<T>,
): Promise<T> {
  const secret = await readImportSecret(target, { client: parts.client, purpose }, signal);
  const host = await parts.hosts.connect({ ...target, secret }, signal);
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
  { access, client }: ImportParts,
): Promise<ReturnType<typeof judgeHost>> {
  const server = addressOf((await access()).server);
  const inspected = await host.inspect(server);
  return judgeHost(machine, inspected, { server, node: await readNode(machine, client) });
}

/** Only a Machine that adopts its Node needs it. A failed read ends the step: it does not mean that there is no Node. */
async function readNode(
  { metadata: { name }, spec }: Machine,
  client: ImportParts['client'],
): Promise<KubeObject | undefined> {
  if (spec.import?.existingNode === 'Reject') return undefined;
  return await unlessMissing(client.get(NODES, { name }));
}

function addressOf(server: string): ServerAddress {
  const { hostname, port } = new URL(server);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 443 : Number(port) };
}
