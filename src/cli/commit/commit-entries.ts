/** Adds entries to a list of a Pipeline in the local fleet repository, and commits that. Never pushes. */
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pipeline } from '../../api/generated/types.ts';
import { textAt } from '../../kube/objects/json.ts';
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

export interface EntriesCommit {
  readonly pipeline: Pipeline;
  readonly list: 'acknowledgements' | 'freezes';
  readonly entries: readonly ListEntry[];
  readonly subject: string;
  readonly reason: string;
}

/** Each is rendered, which takes a second or more. */
const MAX_TRIES = 8;

export async function commitEntries(io: Io, folder: string, change: EntriesCommit): Promise<void> {
  const { pipeline } = change;
  const repository = await openLocalRepository(io, resolve(io.cwd, folder), pipeline);
  const edit = await findEdit(io, repository, change);
  const commit = await writeAndCommit(repository, edit, change);
  const { root, branch } = repository;
  io.out(
    `committed ${shortCommit(commit)} to ${branch} of ${root}: ${edit.path}\nnext: ${nextStep(repository, pipeline)}\n`,
  );
}

/** Sync reads a local folder itself; anything else has to be pushed. */
function nextStep({ root, branch }: LocalRepository, { spec }: Pipeline): string {
  const ref = fullRef(spec.source.ref);
  const isRead = ref === 'HEAD' || ref === fullRef(branch);
  const isFolder = isSameRepository(spec.source.repository, [pathToFileURL(root).href]);
  if (!isRead) return `push ${branch}, and bring it to ${ref}, for example by a pull request`;
  return isFolder ? 'kubenode sync now' : 'git push, then kubenode sync now';
}

/** The first edit that renders to what it should. The working tree is as it was afterwards. */
async function findEdit(io: Io, { root, git }: LocalRepository, change: EntriesCommit): Promise<FileText> {
  const { pipeline, list, entries } = change;
  const { name } = pipeline.metadata;
  const which = { pipeline: name, list };
  const before = await render(io, root, pipeline);
  checkDeclared(declaredList(before, which), root, change);
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

/** The field that differs between all entries of a list, and what to do about an entry that has the value already. */
const KEYS = {
  acknowledgements: {
    field: 'planDigest',
    hint: 'to release an equal plan once more, change its reason there',
  },
  freezes: { field: 'name', hint: 'to declare another freeze, give it another --name' },
} as const;

function checkDeclared(
  declared: readonly unknown[] | undefined,
  root: string,
  { pipeline, list, entries }: EntriesCommit,
): void {
  if (declared === undefined) {
    throw new CliError(
      `nothing was committed: the repository does not declare Pipeline ${pipeline.metadata.name}`,
      {
        where: root,
        hint: 'declare it there, or name another repository with --repo',
        exitCode: EXIT.badInput,
      },
    );
  }
  const { field, hint } = KEYS[list];
  const known = new Set(declared.map((each) => textAt(each, field)));
  const repeated = entries.find((entry) => known.has(entry[field]));
  if (!repeated) return;
  throw new CliError(
    `nothing was committed: the repository has this entry of spec.${list} already: ${field} ${repeated[field]}`,
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

async function writeAndCommit(
  { root, git }: LocalRepository,
  { path, text }: FileText,
  { subject, reason }: EntriesCommit,
): Promise<string> {
  await writeFile(join(root, path), text);
  try {
    await git('commit', '--quiet', '-m', subject, '-m', reason, '--', path);
  } catch (error) {
    await git('checkout', '--quiet', 'HEAD', '--', path);
    throw new CliError('nothing was committed: git refused the commit', {
      where: root,
      hint: `see what git printed: ${stderrOf(error)}`,
      cause: error,
    });
  }
  return git('rev-parse', 'HEAD');
}

function stderrOf(error: unknown): string {
  const { stderr } = (error ?? {}) as { readonly stderr?: unknown };
  return typeof stderr === 'string' ? stderr.trim().slice(0, 500) : String(error);
}
