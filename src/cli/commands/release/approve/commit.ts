/** Commits a planned approval in the local fleet repository. To run it again changes nothing. */
import { shortCommit } from '../../../../views/text/age.ts';
import {
  type EntriesCommit,
  findEdit,
  nextCommand,
  type OpenedEntries,
  openForEntries,
} from '../../../commit/commit-entries.ts';
import type { LocalRepository } from '../../../commit/repository.ts';
import { push, writeAndCommit } from '../../../commit/write-commit.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { readOwnNames, selfApprovalReason } from './own-names.ts';
import type { PlannedApproval } from './plan.ts';

export interface ApprovalCommitFlags {
  readonly repo: string;
  readonly push?: true;
  readonly dryRun?: true;
}

export interface ApprovalCommit {
  /** Present: the repository declared it before. Planned: nothing was changed. */
  readonly outcome: 'Committed' | 'Planned' | 'Present';
  readonly commit?: string;
  readonly branch: string;
  readonly repository: string;
  /** The file that has the entry. */
  readonly path?: string;
  readonly pushed: boolean;
  /** The next step of a person. */
  readonly next?: string;
}

export async function commitApproval(
  io: Io,
  planned: PlannedApproval,
  flags: ApprovalCommitFlags,
): Promise<ApprovalCommit> {
  const change = changeOf(planned);
  const opened = await openForEntries(io, flags.repo, change);
  const { repository } = opened;
  const made = await commitOnce(io, opened, { change, planned, isDryRun: flags.dryRun === true });
  const { root, branch } = repository;
  const pushed = flags.push === true && made.outcome !== 'Planned';
  if (pushed) await push(repository);
  const next = nextCommand(repository, planned.pipeline, { pushed });
  return { ...made, branch, repository: root, pushed, ...(made.outcome === 'Planned' ? {} : { next }) };
}

interface CommitTask {
  readonly change: EntriesCommit;
  readonly planned: PlannedApproval;
  readonly isDryRun: boolean;
}

async function commitOnce(
  io: Io,
  opened: OpenedEntries,
  { change, planned, isDryRun }: CommitTask,
): Promise<Pick<ApprovalCommit, 'outcome' | 'commit' | 'path'>> {
  const { repository, repeated } = opened;
  if (repeated) return { outcome: 'Present' };
  await checkCounts(repository, planned);
  const edit = await findEdit(io, opened, change);
  if (isDryRun) return { outcome: 'Planned', path: edit.path };
  const commit = await writeAndCommit(repository, edit, change);
  return { outcome: 'Committed', commit, path: edit.path };
}

function changeOf({ pipeline, release, entry }: PlannedApproval): EntriesCommit {
  const { commit, subject } = release.spec;
  const { stage = '', reason = '' } = entry;
  return {
    pipeline,
    list: 'approvals',
    entries: [entry],
    subject: `Approve ${shortCommit(commit)} for stage ${stage}`,
    reason: [reason, ...(subject === undefined ? [] : [`Approves: ${subject}`])].join('\n\n'),
    sign: pipeline.spec.source.signatures !== 'None',
  };
}

/** Refuses a commit that the stage would not count as the approval of another person. */
async function checkCounts(
  repository: LocalRepository,
  { pipeline, excluded }: PlannedApproval,
): Promise<void> {
  if (!excluded) return;
  const { root, branch, git } = repository;
  const reason = selfApprovalReason(excluded, await readOwnNames(repository));
  if (reason !== undefined) {
    throw refused(`the approval would not count: ${reason}`, root, 'let another person approve it');
  }
  const head = pipeline.status?.head?.commit;
  const ahead = head === undefined ? '0' : await git('rev-list', '--count', `${head}..HEAD`);
  if (ahead === '0') return;
  throw refused(
    `${branch} has ${ahead} commits that sync has not read, and an approval counts only if it is pushed alone`,
    root,
    'push those first, and run this again',
  );
}

function refused(because: string, where: string, hint: string): CliError {
  return new CliError(`nothing was committed: ${because}`, { where, hint, exitCode: EXIT.badInput });
}
