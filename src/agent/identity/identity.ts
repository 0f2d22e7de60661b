/** Gets and renews the certificates of the agent and of its kubelet, and keeps the kubeconfig of the kubelet. */
import type { X509Certificate } from 'node:crypto';
import {
  AGENT_GROUP,
  agentUser,
  NODE_GROUP,
  NODE_USER_PREFIX,
  SIGNER_AGENT,
  SIGNER_KUBELET,
} from '../../api/names.ts';
import type { ObjectClient } from '../../kube/client/rest-client.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { type AuthoritiesFollower, createAuthoritiesFollower } from '../authorities/follower.ts';
import type { Host } from '../host/port.ts';
import {
  AGENT_PKI,
  AUTHORITIES_FILE,
  CLUSTER_CA_FILE,
  CLUSTER_FILE,
  IDENTITY_KUBECONFIG,
  KUBELET_PKI,
} from '../layout.ts';
import { createJoinClients, hostPath, type JoinClients, readBootstrapFile } from './access.ts';
import { type CertificateKeeper, createCertificateKeeper } from './keeper.ts';
import { createKeptFiles, type KeptFile } from './kept-files.ts';
import type { JoinedCluster } from './known-cluster.ts';
import { formatIdentityKubeconfig } from './kubeconfig.ts';
import type { RequestClient } from './request.ts';
import { createIdentityStore, identityFiles } from './store.ts';

export interface AgentIdentityOptions {
  readonly host: Pick<Host, 'files' | 'directory'>;
  readonly machine: string;
  readonly cluster: JoinedCluster;
  /** The client with the identity of the agent. */
  readonly client: ObjectClient;
  /**
   * The bootstrap of the certificate that the agent keeps for itself. Without it another program does, and only that of the kubelet is
   * kept.
   */
  readonly own?: { readonly bootstrapFile?: string };
  /** Returns the UID of the Machine, once it is known. */
  readonly machineUid: () => string | undefined;
  readonly needsKubelet: () => boolean;
  /** Returns the kubelets that run. Undefined: they are not known at the moment. */
  readonly kubelets: () => Promise<readonly string[] | undefined>;
  readonly lifetimeSeconds?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Handles a change: it is called when a certificate or kubeconfig was written. */
  readonly onChange: () => void;
}

export interface AgentIdentity {
  /** Returns when the certificate of the agent ends. */
  notAfter(): Date | undefined;
  /** Returns why the agent has no certificate; undefined while it has one, or waits for the answer to its request. */
  problem(): string | undefined;
  /** Resolves when the agent has a certificate, or at the signal. */
  ready(): Promise<void>;
  /** Returns what the agent follows of its authorities. Undefined: another program keeps its certificate. */
  authorities(): AuthoritiesFollower | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const WEEK_SECONDS = 7 * 86_400;
const IDLE_MS = 60_000;
const MIN_MS = 20;
/** The time within which a component that needs an identity is noticed. */
const NEEDS_MS = 1000;
const KEEP_MS = 20_000;
const PRIVATE = { mode: '0600', owner: 'root:root' };
const PUBLIC = { mode: '0644', owner: 'root:root' };
const OWN_FILES: readonly KeptFile[] = [
  { path: CLUSTER_FILE, attributes: PRIVATE },
  { path: CLUSTER_CA_FILE, attributes: PUBLIC },
  { path: AUTHORITIES_FILE, attributes: PRIVATE },
  { path: identityFiles(AGENT_PKI).certificate, attributes: PRIVATE },
];

export function createAgentIdentity(options: AgentIdentityOptions): AgentIdentity {
  const { clock, machine } = options;
  const joining = createJoinClients(clock);
  const authorities = options.own && createAuthoritiesFollower(options);
  const issuer = (): X509Certificate | undefined => authorities?.issuer();
  const agent =
    options.own &&
    keeperOf(options, {
      requestPrefix: `kubenode-agent-${machine}`,
      directory: AGENT_PKI,
      name: { commonName: agentUser(machine), organization: AGENT_GROUP },
      signer: SIGNER_AGENT,
      issuer,
      requester: () => agentRequester(options, joining, notAfter),
      unauthorizedHint: () =>
        notAfter
          ? undefined
          : `What --bootstrap names was used or replaced, or has ended: ${joinHint(machine)}`,
    });
  const kubelet = keeperOf(options, {
    requestPrefix: `kubenode-kubelet-${machine}`,
    directory: KUBELET_PKI,
    name: { commonName: `${NODE_USER_PREFIX}${machine}`, organization: NODE_GROUP },
    signer: SIGNER_KUBELET,
    issuer,
    requester: async () => ownRequester(options),
  });
  const ready = Promise.withResolvers<void>();
  // The first status of an agent has its authorities: without them it is taken for one of an earlier version.
  const described = Promise.withResolvers<void>();
  if (!authorities) described.resolve();
  let notAfter: Date | undefined;
  if (!agent) ready.resolve();

  const kept = createKeptFiles(options.host.files, options.own ? OWN_FILES : [], options.log);

  async function keepFiles(): Promise<number> {
    if ((await kept.keep()).length > 0) options.onChange();
    return KEEP_MS;
  }

  async function stepAgent(keeper: CertificateKeeper): Promise<number> {
    // Before the keeper misses its certificate, and asks for another one with a token that is used.
    await keepFiles();
    await readNotAfter(keeper);
    const waitMs = await keeper.step();
    await readNotAfter(keeper);
    return waitMs;
  }

  async function readNotAfter(keeper: CertificateKeeper): Promise<void> {
    const before = notAfter;
    notAfter = (await keeper.held())?.notAfter;
    // One that ended by our clock, too: that clock may be wrong, and the server decides.
    if (notAfter) ready.resolve();
    if (notAfter?.getTime() === before?.getTime()) return;
    const hasEnded = notAfter !== undefined && notAfter <= clock.now();
    if (hasEnded) options.log.error('certificate ended', { at: notAfter, hint: joinHint(machine) });
    options.onChange();
  }

  async function stepKubelet(): Promise<number> {
    if (!options.needsKubelet()) return NEEDS_MS;
    const waitMs = await kubelet.step();
    if (await kubelet.held()) await ensureKubeconfig(options);
    return Math.min(waitMs, IDLE_MS);
  }

  async function followAuthorities(follower: AuthoritiesFollower, signal: AbortSignal): Promise<void> {
    await follower.describe().catch((error: unknown) => options.log.error('authorities not read', { error }));
    described.resolve();
    await ready.promise;
    await repeat(() => follower.step(), options, signal);
  }

  return {
    notAfter: () => notAfter,
    problem: () => (notAfter ? undefined : agent?.problem()),
    ready: () => described.promise.then(() => ready.promise),
    authorities: () => authorities,
    async run(signal) {
      signal.addEventListener('abort', () => ready.resolve(), { once: true });
      const loops = [...(agent ? [() => stepAgent(agent), keepFiles] : []), stepKubelet];
      const running = loops.map((step) => repeat(step, options, signal));
      await Promise.all([...running, authorities && followAuthorities(authorities, signal)]);
      await joining.close();
    },
  };
}

/** Repeats a step until the signal. A step that fails is made again: no error may end the agent. */
async function repeat(
  step: () => Promise<number>,
  { clock, log }: Pick<AgentIdentityOptions, 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const waitMs = await step().catch((error: unknown) => {
      log.error('identity step failed', { error });
      return IDLE_MS;
    });
    await clock.sleep(Math.max(MIN_MS, waitMs), signal).catch(() => undefined);
  }
}

type Kept = Pick<
  Parameters<typeof createCertificateKeeper>[0],
  'requestPrefix' | 'name' | 'signer' | 'issuer' | 'requester' | 'unauthorizedHint'
> & {
  readonly directory: string;
};

function keeperOf(options: AgentIdentityOptions, { directory, ...kept }: Kept): CertificateKeeper {
  const { host, clock, random, log, lifetimeSeconds = WEEK_SECONDS } = options;
  const store = createIdentityStore(host.files, identityFiles(directory));
  return createCertificateKeeper({ ...kept, store, lifetimeSeconds, clock, random, log });
}

/** Returns the requester of the certificate of the agent. Without a token, a certificate that ended by our clock is tried all the same. */
async function agentRequester(
  options: AgentIdentityOptions,
  joining: JoinClients,
  ends: Date | undefined,
): Promise<RequestClient> {
  const { clock, own, machine } = options;
  if (ends && ends > clock.now()) return ownRequester(options);
  if (own?.bootstrapFile === undefined) {
    if (ends) return ownRequester(options);
    throw new Error(`the agent has no certificate: ${joinHint(machine)}`);
  }
  return { client: joining.clientFor(await readBootstrapFile(own.bootstrapFile)) };
}

function joinHint(machine: string): string {
  return `pass --bootstrap with the output of: kubenode machine token ${machine}`;
}

function ownRequester({ client, machineUid, machine }: AgentIdentityOptions): RequestClient {
  const uid = machineUid();
  if (uid === undefined) throw new Error(`the UID of Machine ${machine} is not known yet`);
  return { client, machineUid: uid };
}

async function ensureKubeconfig({ host, cluster, onChange }: AgentIdentityOptions): Promise<void> {
  const text = formatIdentityKubeconfig({
    server: cluster.server,
    certificateFile: hostPath(host, identityFiles(KUBELET_PKI).certificate),
    ...(cluster.hasCa ? { caFile: hostPath(host, CLUSTER_CA_FILE) } : {}),
  });
  const content = new TextEncoder().encode(text);
  const before = await host.files.read(IDENTITY_KUBECONFIG);
  if (before && Buffer.from(before).equals(content)) return;
  await host.files.write(IDENTITY_KUBECONFIG, content, PRIVATE);
  onChange();
}
