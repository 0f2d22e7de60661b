/** Adds entries to a list of a Pipeline in the local fleet repository, and commits that. Never pushes. */
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pipeline } from '../../api/generated/types.ts';
import { textAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { fullRef } from '../../sync/git/repository-url.ts';
import { isRenderError } from '../../sync/render/errors.ts';
import { createRenderer } from '../../sync/render/renderer.ts';
import type { RenderedTarget } from '../../sync/rendered.ts';
import { shortCommit } from '../../views/text/age.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { entryEdits, type FileText, isYaml, type ListEntry } from './edit.ts';
import { addsExactly, declaredList } from './list-change.ts';
import { isSameRepository, type LocalRepository, openLocalRepository } from './repository.ts';
import { type CommitText, writeAndCommit } from './write-commit.ts';

export interface EntriesChange {
  readonly pipeline: Pipeline;
  readonly list: 'acknowledgements' | 'approvals' | 'freezes';
  readonly entries: readonly ListEntry[];
}

export type EntriesCommit = EntriesChange & CommitText;

/** Each is rendered, which takes a second or more. */
const MAX_TRIES = 8;

export async function commitEntries(io: Io, folder: string, change: EntriesCommit): Promise<void> {
  const prepared = await openForEntries(io, folder, change);
  const { root, branch } = prepared.repository;
  if (prepared.repeated) refuseRepeated(prepared.repeated, root, change);
  const edit = await findEdit(io, prepared, change);
  const commit = await writeAndCommit(prepared.repository, edit, change);
  io.out(
    `committed ${shortCommit(commit)} to ${branch} of ${root}: ${edit.path}\nnext: ${nextCommand(prepared.repository, change.pipeline)}\n`,
  );
}

export interface OpenedEntries {
  readonly repository: LocalRepository;
  /** The render of the working tree. */
  readonly before: readonly RenderedTarget[];
  /** The entry that the repository declares already, if any. */
  readonly repeated?: ListEntry;
}

/** Rejects unless a commit here changes only what is asked for, and the repository declares the Pipeline. */
export async function openForEntries(
  io: Io,
  folder: string,
  { pipeline, list, entries }: EntriesChange,
): Promise<OpenedEntries> {
  const repository = await openLocalRepository(io, resolve(io.cwd, folder), pipeline);
  const before = await render(io, repository.root, pipeline);
  const { name } = pipeline.metadata;
  const declared = declaredList(before, { pipeline: name, list });
  if (declared === undefined) refuseUndeclared(name, repository.root);
  const { fields } = KEYS[list];
  const repeated = entries.find((entry) =>
    declared.some((each) => fields.every((field) => textAt(each, field) === entry[field])),
  );
  return { repository, before, ...optional('repeated', repeated) };
}

/** Sync reads a local folder itself; anything else has to be pushed. */
export function nextCommand(
  { root, branch }: LocalRepository,
  { spec }: Pipeline,
  { pushed = false }: { readonly pushed?: boolean } = {},
): string {
  const ref = fullRef(spec.source.ref);
  const isRead = ref === 'HEAD' || ref === fullRef(branch);
  const isFolder = isSameRepository(spec.source.repository, [pathToFileURL(root).href]);
  const bring = `bring it to ${ref}, for example by a pull request`;
  if (!isRead) return pushed ? bring : `push ${branch}, and ${bring}`;
  return isFolder || pushed ? 'kubenode sync now' : 'git push, then kubenode sync now';
}

/** The first edit that renders to what it should. The working tree is as it was afterwards. */
export async function findEdit(
  io: Io,
  { repository: { root, git }, before }: OpenedEntries,
  { pipeline, list, entries }: EntriesChange,
): Promise<FileText> {
  const { name } = pipeline.metadata;
  const which = { pipeline: name, list };
  const files = await readFiles(root, await git('ls-files', '-z', '--', pipeline.spec.source.path));
  for (const edit of entryEdits(files, list, entries).slice(0, MAX_TRIES)) {
    const original = files.find(({ path }) => path === edit.path)?.text ?? '';
    await writeFile(join(root, edit.path), edit.text);
    try {
      const after = await render(io, root, pipeline);
      if (addsExactly({ before, after }, which, entries)) return edit;
    } catch (error) {
      if (!isRenderError(error)) throw error;
    } finally {
      await writeFile(join(root, edit.path), original);
    }
  }
  throw new CliError(`nothing was committed: no place was found for spec.${list} of Pipeline ${name}`, {
    where: root,
    hint: 'run the command without --commit, and paste what it prints',
  });
}

/** The fields that differ between all entries of a list, and what to do about an entry that has their values already. */
const KEYS = {
  acknowledgements: {
    fields: ['planDigest'],
    hint: 'to release an equal plan once more, change its reason there',
  },
  approvals: { fields: ['stage', 'planDigest'], hint: 'it approves the plan as soon as it is pushed' },
  freezes: { fields: ['name'], hint: 'to declare another freeze, give it another --name' },
} as const;

function refuseUndeclared(name: string, root: string): never {
  throw new CliError(`nothing was committed: the repository does not declare Pipeline ${name}`, {
    where: root,
    hint: 'declare it there, or name another repository with --repo',
    exitCode: EXIT.badInput,
  });
}

function refuseRepeated(entry: ListEntry, root: string, { list }: EntriesChange): never {
  const { fields, hint } = KEYS[list];
  const values = fields.map((field) => `${field} ${entry[field]}`).join(', ');
  throw new CliError(
    `nothing was committed: the repository has this entry of spec.${list} already: ${values}`,
    { where: root, hint: `push it, if sync has not read it yet; ${hint}`, exitCode: EXIT.badInput },
  );
}

async function render(io: Io, root: string, { spec }: Pipeline): Promise<readonly RenderedTarget[]> {
  const { targets } = await createRenderer().folder({
    folder: root,
    path: spec.source.path,
    signal: io.signal,
  });
  return targets;
}

async function readFiles(root: string, listed: string): Promise<readonly FileText[]> {
  const paths = listed
    .split('\0')
    .filter((path) => (path.endsWith('.ts') && !path.endsWith('.d.ts')) || isYaml(path))
    .filter((path) => !/(^|\/)(node_modules|vendor)\//.test(path));
  const files = await Promise.all(paths.map((path) => readRegular(root, path)));
  return files.flatMap((file) => file ?? []);
}

/** A symbolic link is not followed: an edit would change a file outside of the repository. */
async function readRegular(root: string, path: string): Promise<FileText | undefined> {
  const file = join(root, path);
  if (!(await lstat(file)).isFile()) return undefined;
  return { path, text: await readFile(file, 'utf8') };
}
