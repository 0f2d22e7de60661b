/** The first step of sync: creates the Pipelines that a repository declares in the hub. Everything else follows from them. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PIPELINES } from '../../../api/generated/resources.ts';
import { MANAGER_SYNC } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Log } from '../../../kube/process/log.ts';
import { openGit } from '../../../sync/git/open.ts';
import { HUB_TARGET } from '../../../sync/rendered.ts';
import type { SyncOptions } from '../../../sync/sync.ts';
import { textField } from '../../../views/text/fields.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';

export interface BootstrapFlags {
  readonly from: string;
  readonly path: string;
  readonly ref?: string;
}

export async function bootstrap(
  io: Io,
  flags: BootstrapFlags,
  { connectHub, renderer, log, gitFolder }: SyncOptions,
): Promise<void> {
  const repository = repositoryUrl(io, flags.from);
  const client = await connectHub();
  try {
    const pipelines = await declaredPipelines();
    const existing = await Promise.all(
      pipelines.map(async (pipeline) => ({ pipeline, found: await readPipeline(client, pipeline) })),
    );
    // Before the first one is created.
    for (const { pipeline, found } of existing) if (found) refuseOther(pipeline, found);
    for (const { pipeline, found } of existing) {
      const { name } = pipeline.metadata;
      // Only the first time: afterwards sync applies the Pipeline from its own commits.
      if (found) log.info('pipeline already exists', { pipeline: name });
      else {
        // By server-side apply, as sync does: a create would also own the defaults, and `release halt` would conflict.
        await client.apply(PIPELINES, pipeline, { fieldManager: MANAGER_SYNC, signal: io.signal });
        log.info('pipeline created', { pipeline: name, repository });
      }
    }
  } finally {
    await client.close();
  }

  /** None where the head is broken and the hub has Pipelines: their status explains what is wrong, and the others go on. */
  async function declaredPipelines(): Promise<readonly KubeObject[]> {
    try {
      return await renderPipelines(io, { ...flags, repository }, { renderer, gitFolder });
    } catch (error) {
      const names = io.signal.aborted ? [] : await pipelineNames(client, io.signal);
      if (names.length === 0) throw error;
      log.warn('no pipeline read from the repository: sync starts with those of the hub', {
        repository,
        pipelines: names,
        error,
        hint: 'fix the head of the repository; a Pipeline that is not in the hub yet is created when sync is started again',
      });
      return [];
    }
  }
}

async function pipelineNames(client: Client, signal: AbortSignal): Promise<readonly string[]> {
  const { items } = await client.list(PIPELINES, { signal });
  return items.map(({ metadata }) => metadata.name);
}

/** Without a Pipeline there is nothing to sync, and nothing would tell why. */
export function warnWithoutPipeline(log: Log, pipelines: number, from: string | undefined): void {
  if (pipelines > 0 || from !== undefined) return;
  log.warn('the hub has no Pipeline: nothing is synced', {
    hint: 'create the Pipelines of the fleet repository once with: kubenode sync --from REPOSITORY',
  });
}

async function readPipeline(client: Client, { metadata }: KubeObject): Promise<KubeObject | undefined> {
  return await unlessMissing(client.get(PIPELINES, { name: metadata.name }));
}

/** Two repositories cannot have a Pipeline of the same name: the second one would never be synced. */
function refuseOther(declared: KubeObject, existing: KubeObject): void {
  const [want, have] = [sourceOf(declared), sourceOf(existing)];
  if (want === have) return;
  const { name } = declared.metadata;
  throw new CliError(
    `Pipeline ${name} exists, and syncs another repository: expected ${want}, found ${have}`,
    {
      where: `Pipeline ${name} of the hub`,
      hint: `to sync ${have}, leave out --from; for both, give the Pipeline of --from another name in its fleet program; where the local hub is of an earlier try, remove it: kubenode local down --wipe`,
      exitCode: EXIT.badInput,
    },
  );
}

/** With the defaults of the API server. */
function sourceOf(pipeline: KubeObject): string {
  const path = textField(pipeline, 'spec.source.path') || '.';
  return `${textField(pipeline, 'spec.source.repository')}${path === '.' ? '' : ` (path ${path})`}`;
}

/** A local folder becomes a file URL. */
function repositoryUrl(io: Io, from: string): string {
  const folder = resolve(io.cwd, from);
  return existsSync(folder) ? pathToFileURL(folder).href : from;
}

async function renderPipelines(
  io: Io,
  { repository, path, ref }: BootstrapFlags & { readonly repository: string },
  { renderer, gitFolder }: Pick<SyncOptions, 'renderer' | 'gitFolder'>,
): Promise<readonly KubeObject[]> {
  const folder = join(gitFolder, `bootstrap-${randomUUID()}`);
  const git = openGit({ repository, folder });
  try {
    const commit = await git.fetch(ref ?? 'HEAD', io.signal);
    const { rendered } = await renderer.commit({ git, commit, path, signal: io.signal });
    const hub = rendered.targets.find(({ target }) => target === HUB_TARGET);
    const objects = (hub?.units ?? []).flatMap((unit) => unit.objects.map(({ object }) => object));
    const found = objects.filter(({ kind }) => kind === PIPELINES.kind);
    if (found.length > 0) return found;
    throw new CliError('the repository declares no Pipeline', {
      where: `${repository}, commit ${commit}, path ${path}`,
      hint: 'declare one in the fleet program (fleet.pipeline), or create a repository with: kubenode init DIR',
      exitCode: EXIT.badInput,
    });
  } finally {
    await git.close();
    await rm(folder, { recursive: true, force: true });
  }
}
