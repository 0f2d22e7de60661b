/** Runs the agent on one host: the loop, the watch, health and metrics. */
import type { PeerProbeRequest } from '../api/generated/types.ts';
import type { ObjectClient } from '../kube/client/rest-client.ts';
import { optional } from '../kube/objects/optional.ts';
import { startHealthServer } from '../kube/process/health.ts';
import type { Log } from '../kube/process/log.ts';
import type { Clock } from '../os/clock.ts';
import { acquireLock } from '../os/lock.ts';
import type { AcceptedState } from './desired/accepted.ts';
import { runDetector } from './detector/detector.ts';
import { type HostPrograms, readHostPrograms } from './detector/report/host-programs.ts';
import { createNodeConditionsApi } from './detector/report/node-conditions-api.ts';
import { createNodeEvents } from './detector/report/node-events.ts';
import { createFactCollector } from './facts/collector.ts';
import type { Host } from './host/port.ts';
import { createSandboxHost, type SandboxHost } from './host/sandbox/host.ts';
import { createSystemdHost, type SystemdHost } from './host/systemd/host.ts';
import { connectAsAgent, readBootstrapFile } from './identity/access.ts';
import { type AgentIdentityOptions, createAgentIdentity } from './identity/identity.ts';
import { type JoinedCluster, knownCluster } from './identity/known-cluster.ts';
import { rememberCluster } from './identity/remember-cluster.ts';
import { agentLock } from './layout.ts';
import { probeKubelet } from './peers/probe.ts';
import { createPeerProber, type PeerProber } from './peers/prober.ts';
import { requireOwnHost } from './run/acceptance.ts';
import { type Agent, openAgent } from './run/agent.ts';
import { type AgentApi, createAgentApi } from './run/api.ts';
import { createReconcileTrigger, type ReconcileTrigger } from './run/trigger.ts';
import { createMachineEvents } from './status/event-recorder.ts';
import { createAgentMetrics } from './status/metrics.ts';
import type { AgentSelf, NoSelfUpgrade } from './upgrade/self.ts';

export interface RunAgentOptions {
  /** The directory of the sandbox. Without it the agent acts on this machine itself, which needs systemd and root. */
  readonly directory?: string;
  readonly machine: string;
  readonly access: AgentAccess;
  readonly version: string;
  /** The port of health and metrics, on localhost. 0 selects a free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** The description of this process as a component of its machine. */
  readonly self?: AgentSelf | NoSelfUpgrade;
  /** Handles the start: it is called once the agent listens. */
  readonly onListening?: (url: string) => void;
}

/** The access of the agent: it keeps a certificate of its own, or a kubeconfig gives it one. */
export type AgentAccess =
  | { readonly own: { readonly bootstrapFile?: string; readonly certificateSeconds?: number } }
  | { readonly client: ObjectClient; readonly ca?: string };

/**
 * The time without a reconcile after which the agent is unhealthy. A reconcile of a healthy host takes seconds; a hook may take minutes.
 */
const MAX_SILENCE_MS = 35 * 60_000;

export async function runAgent(options: RunAgentOptions, signal: AbortSignal): Promise<void> {
  const { directory = '/', log } = options;
  // Two agents on one host would stop each other's processes.
  const lock = await acquireLock(agentLock(directory), {
    signal,
    waiting: (holder) => log.warn('another agent runs on this host', { holder }),
  });
  try {
    await runAlone(options, signal);
  } finally {
    await lock.release();
  }
}

async function runAlone(options: RunAgentOptions, signal: AbortSignal): Promise<void> {
  const trigger = createReconcileTrigger(options.clock);
  const host = createHost(options, { onUnitChange: () => trigger.notify(), signal });
  try {
    await host.open();
    await runOn(host, trigger, options, signal);
  } finally {
    await host.close();
  }
}

function createHost(
  { directory, clock }: RunAgentOptions,
  given: { readonly onUnitChange: () => void; readonly signal: AbortSignal },
): SandboxHost | SystemdHost {
  if (directory === undefined) return createSystemdHost({ clock, ...given });
  return createSandboxHost({ directory, clock, ...given });
}

async function runOn(
  host: Host,
  trigger: ReconcileTrigger,
  options: RunAgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const { machine, version, clock, log, random } = options;
  let opened: Agent | undefined;
  await requireOwnHost(host.files, machine);
  const { client, cluster } = await connectAgent(options, host);
  const api = createAgentApi({ client, machine, clock, log, random, onChange: () => trigger.notify() });
  const identity = createAgentIdentity({
    host,
    machine,
    cluster,
    client,
    ...('own' in options.access ? ownIdentity(options.access.own) : {}),
    machineUid: () => opened?.accepted()?.uid,
    needsKubelet: () => needsKubelet(opened?.accepted()),
    kubelets: async () => await opened?.kubelets(),
    clock,
    random,
    log,
    onChange: () => trigger.notify(),
  });
  const metrics = createAgentMetrics({
    certificateNotAfter: () => identity.notAfter(),
    isOnline: () => api.isOnline(),
    residentBytes: () => process.memoryUsage.rss(),
  });
  const [collector, prober] = [createFactCollector({ host, clock, log }), createProber(api, clock)];
  let reconciledMs = clock.monotonicMs();
  const events = createMachineEvents({ ...options, client, instance: machine, metrics: metrics.events });
  const health = await startHealthServer({
    port: options.port,
    clock,
    log,
    metrics,
    alive: { reconcile: () => silenceReason(clock.monotonicMs() - reconciledMs) },
    ready: { api: () => (api.isOnline() ? undefined : 'the API server does not answer') },
  });
  options.onListening?.(health.url);
  try {
    const agent = await openAgent({
      certificateNotAfter: () => identity.notAfter(),
      joinProblem: () => identity.problem(),
      authorities: () => identity.authorities(),
      facts: () => collector.facts(),
      peers: () => prober.answers(),
      host,
      api,
      clock,
      log,
      random,
      machine,
      version,
      trigger,
      clusterServer: client.server,
      ...optional('self', options.self),
      events,
      observer: {
        acted: (component, action) => metrics.observer.acted(component, action),
        reconciled(status, seconds) {
          reconciledMs = clock.monotonicMs();
          metrics.observer.reconciled(status, seconds);
        },
      },
    });
    opened = agent;
    // The last accepted state is enforced from the start, with or without a certificate.
    const watching = identity.ready().then(() => api.run(signal));
    const detecting = identity.ready().then(() => detectProblems(host, client, options, signal));
    const beside = [identity, collector, prober].map((each) => each.run(signal));
    await Promise.all([watching, agent.run(signal), detecting, ...beside]);
    await agent[Symbol.asyncDispose]();
  } finally {
    await events.close();
    await health.close();
    if ('own' in options.access) await client.close();
  }
}

function createProber(api: AgentApi, clock: Clock): PeerProber {
  const requests = (): readonly PeerProbeRequest[] | undefined =>
    api.isOnline() ? (api.machine()?.status?.probeRequests ?? []) : undefined;
  return createPeerProber({ requests, probe: probeKubelet, clock });
}

/** Runs the problem detector. A host in a directory shares the processes of its machine: a program there is not its own. */
async function detectProblems(
  host: Host,
  client: ObjectClient,
  { machine, clock, log, random }: RunAgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const events = createNodeEvents({ node: machine, client, clock, log, random });
  const programs = async (): Promise<HostPrograms | undefined> =>
    host.type === 'systemd' ? await readHostPrograms() : undefined;
  const api = createNodeConditionsApi({ client, name: machine, clock, log, random });
  try {
    await runDetector({ host, api, events, programs, clock, log }, signal);
  } finally {
    await events.close(AbortSignal.abort());
  }
}

function silenceReason(silentMs: number): string | undefined {
  if (silentMs <= MAX_SILENCE_MS) return undefined;
  return `no reconcile finished for ${Math.round(silentMs / 1000)} s`;
}

interface Connected {
  readonly client: ObjectClient;
  readonly cluster: JoinedCluster;
}

async function connectAgent({ access, clock, machine }: RunAgentOptions, host: Host): Promise<Connected> {
  if ('client' in access) {
    const { client, ca } = access;
    return { client, cluster: await rememberCluster(host, { server: client.server, ...optional('ca', ca) }) };
  }
  const cluster = await clusterToJoin(host, access.own.bootstrapFile);
  if (cluster) return { client: connectAsAgent(host, cluster, clock), cluster };
  throw new Error(
    `this host has not joined a cluster: pass --bootstrap with the output of: kubenode machine token ${machine}`,
  );
}

/** Returns the cluster to join. A host that joined before needs the file no more: it may be missing when the agent starts again. */
async function clusterToJoin(
  host: Host,
  bootstrapFile: string | undefined,
): Promise<JoinedCluster | undefined> {
  const known = await knownCluster(host.files);
  if (bootstrapFile === undefined) return known;
  try {
    return await rememberCluster(host, await readBootstrapFile(bootstrapFile));
  } catch (error) {
    if (known) return known;
    throw error;
  }
}

type OwnAccess = Extract<AgentAccess, { own: unknown }>['own'];

function ownIdentity({
  bootstrapFile,
  certificateSeconds,
}: OwnAccess): Pick<AgentIdentityOptions, 'own' | 'lifetimeSeconds'> {
  return {
    own: optional('bootstrapFile', bootstrapFile),
    ...optional('lifetimeSeconds', certificateSeconds),
  };
}

function needsKubelet(state: AcceptedState | undefined): boolean {
  const entries = state?.spec.components ?? [];
  return entries.some(
    ({ state: wanted, componentRef }) =>
      wanted === 'Present' && state?.components[componentRef]?.identity === 'Kubelet',
  );
}
