/** A real hub and real clusters, a fleet in Gitea, and `kubenode sync` as users run it, which plans the pull requests. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { PIPELINES } from '../../src/api/generated/resources.ts';
import type { Pipeline } from '../../src/api/generated/types.ts';
import { install } from '../../src/api/install/install.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE, PRINCIPAL_SYNC } from '../../src/api/names.ts';
import { SECRETS } from '../../src/kube/objects/core-kinds.ts';
import { createPrincipal } from '../../src/local/pki/principal.ts';
import { findFreePort } from '../../src/os/net/ports.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { closeRun, openRun, type Run } from '../../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../../test/support/control-plane-server.ts';
import { createTestRepository } from '../../test/support/git-server/repository.ts';
import { GITEA_USER, type Gitea, startGitea } from '../../test/support/gitea/server.ts';
import { createHookSender, type HookSender } from '../intake/hooks.ts';
import { compileProgram, ended, startSyncProcess } from '../sync/process.ts';
import { clusterName, fleetFiles, type PlansFleet } from './fleet.ts';

const HOOK_SECRET = 'the secret of the webhook';
/** API servers that start at one time. */
const STARTING = 3;

export interface PlansBed {
  readonly gitea: Gitea;
  readonly hooks: HookSender;
  /** The commit that the clusters begin with. */
  readonly first: string;
  /** Commits the fleet with this value to a branch of Gitea. Returns the commit. */
  push(branch: string, value: string): string;
  pipeline(): Promise<Pipeline>;
  close(): Promise<void>;
}

export async function openPlansBed(size: Omit<PlansFleet, 'source'>): Promise<PlansBed> {
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-bench-plans-'));
  const run = await openRun();
  const opened: (() => Promise<unknown>)[] = [
    () => rm(folder, { recursive: true, force: true }),
    () => closeRun(run),
  ];
  async function close(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- the last one first: each uses those before it
    for (const end of opened.toReversed()) await end();
  }
  try {
    return { ...(await open(size, { folder, run, opened })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Opening {
  readonly folder: string;
  readonly run: Run;
  readonly opened: (() => Promise<unknown>)[];
}

async function open(
  size: Omit<PlansFleet, 'source'>,
  { folder, run, opened }: Opening,
): Promise<Omit<PlansBed, 'close'>> {
  await mkdir(join(folder, 'gitea'));
  const gitea = await startGitea(join(folder, 'gitea'));
  opened.push(async () => await gitea[Symbol.asyncDispose]());
  const hub = await startServer(run);
  opened.push(() => hub.stop());
  await install(hub.client, { clock: createSystemClock() });
  await connectClusters(size.clusters, hub, { run, opened });

  await gitea.api('POST', '/user/repos', { name: 'fleet' });
  await createSecret(hub, 'hook', 'git-webhook', { secret: HOOK_SECRET });
  const host = new URL(gitea.url).host;
  await createSecret(hub, 'status', `git-status; ${host}`, { token: await gitea.createToken('plans') });
  const fleet = { ...size, source: sourceAt(gitea) };
  const git = createTestRepository(folder);
  const push = (branch: string, value: string): string => {
    const commit = git.commit(`value ${value}`, fleetFiles(fleet, value));
    git.git('push', '--quiet', '--force', gitea.pushUrl('fleet'), `HEAD:refs/heads/${branch}`);
    return commit;
  };
  const first = push('main', '0');

  const port = await findFreePort();
  const hooks = createHookSender(`http://127.0.0.1:${port}/hooks/fleet`, HOOK_SECRET);
  opened.push(async () => hooks.close());
  const kubeconfig = await hub.kubeconfigFor(createPrincipal(PRINCIPAL_SYNC));
  const flags = [
    '--kubeconfig',
    kubeconfig,
    '--cache',
    join(folder, 'cache'),
    '--webhook-port',
    String(port),
  ];
  compileProgram();
  const sync = startSyncProcess([...flags, '--from', fleet.source.repository]);
  opened.push(() => ended(sync));
  return {
    gitea,
    hooks,
    first,
    push,
    pipeline: () => hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' }),
  };
}

function sourceAt(gitea: Gitea) {
  return {
    repository: `${gitea.url}/${GITEA_USER}/fleet.git`,
    ref: 'refs/heads/main',
    pollSeconds: 3600,
    webhookSecretRef: { name: 'hook' },
    statusCredentialsRef: { name: 'status' },
    gitHost: { type: 'Gitea', url: gitea.url },
    planComments: {},
  };
}

/** The clusters begin with what an installation wrote in the first one: it takes more CPU than a start. */
async function connectClusters(
  count: number,
  hub: ApiServer,
  { run, opened }: Pick<Opening, 'run' | 'opened'>,
): Promise<void> {
  const template = await startServer(run);
  opened.push(() => template.stop());
  await template.keep();
  await install(template.client, { clock: createSystemClock() });
  const preloaded = await template.created();
  const queue = new PQueue({ concurrency: STARTING });
  const connect = async (index: number): Promise<void> => {
    const server = await startServer(run, { preloaded });
    opened.push(() => server.stop());
    const kubeconfig = await readFile(await server.kubeconfigFor(createPrincipal(PRINCIPAL_SYNC)), 'utf8');
    await createSecret(hub, `${clusterName(index)}-kubeconfig`, 'kubeconfig', { kubeconfig });
  };
  await queue.addAll(Array.from({ length: count }, (_, index) => () => connect(index)));
}

async function createSecret(hub: ApiServer, name: string, use: string, stringData: object): Promise<void> {
  const metadata = { name, namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: use } };
  await hub.client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, stringData });
}
