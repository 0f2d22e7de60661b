/** Explains why no revert is made, and decides whether one that is made is pushed or proposed. Pure. */
import { printableLine } from '../../kube/objects/printable.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { RevertResult } from '../git/transport.ts';
import type { StageFailure } from './plan.ts';

export interface RevertRefusal {
  readonly reason:
    | 'NothingProven'
    | 'Conflict'
    | 'AlreadyReverted'
    | 'AutomaticRevert'
    | 'Unrelated'
    | 'NotSigned';
  /** The message has a hint. */
  readonly message: string;
}

type Unmade = Exclude<RevertResult, { type: 'Revert' }>;

/** The message has a hint at its end, which must not be truncated. */
const [MAX_PATHS, MAX_FILES] = [3, 400];

/** The range that failed in a stage. */
export interface FailedRange extends Pick<StageFailure, 'stage' | 'commit'> {
  readonly proven: string;
}

export function nothingProven({ stage, commit }: Pick<StageFailure, 'stage' | 'commit'>): RevertRefusal {
  return {
    reason: 'NothingProven',
    message: `${commit} failed in stage ${stage}, which has proven no commit yet: there is nothing to go back to. Push a commit that fixes it`,
  };
}

export function unmadeReason(result: Unmade, range: FailedRange): RevertRefusal {
  const { proven, commit } = range;
  if (result.type === 'Conflict') return conflict(result.paths, range);
  if (result.type === 'Nothing') {
    const message = `the head has the files of ${proven} already: nothing is left to revert`;
    return { reason: 'AlreadyReverted', message };
  }
  if (result.type === 'OwnRevert') {
    const message = `the range ${proven}..${commit} contains ${result.commit}, which is a revert by sync, and sync reverts no revert. Push a commit that fixes the stage`;
    return { reason: 'AutomaticRevert', message };
  }
  const message = `${result.head} does not contain ${result.ancestor}, so the range ${proven}..${commit} is not known. Push a commit that fixes the stage`;
  return { reason: 'Unrelated', message };
}

function conflict(paths: readonly string[], { proven, commit }: FailedRange): RevertRefusal {
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : '';
  const files = `${printableLine(paths.slice(0, MAX_PATHS).join(', '))}${more}`;
  return {
    reason: 'Conflict',
    message: `commits after ${commit} changed files of the range, too: ${truncate(files, MAX_FILES)}. Nothing was pushed. Revert the range yourself: git revert --no-commit ${proven}..${commit}`,
  };
}

export interface MadeRevert {
  readonly how: 'Push' | 'Propose';
  readonly failure: Pick<StageFailure, 'commit'>;
  readonly onto: string;
  readonly branch: string;
  /** Why sync would refuse the commit as a head. */
  readonly unaccepted: string | undefined;
}

export type RevertWay = { readonly how: 'Push' | 'Propose'; readonly note?: string } | RevertRefusal;

/** A push is for the head that failed, and for a commit that sync itself accepts. */
export function chooseWay({ how, failure, onto, branch, unaccepted }: MadeRevert): RevertWay {
  if (how === 'Propose') {
    return unaccepted === undefined ? { how } : { how, note: signNote(unaccepted, branch) };
  }
  if (unaccepted !== undefined) {
    return {
      reason: 'NotSigned',
      message: `sync would refuse its own commit: ${unaccepted}. Put the key of a signer into signing-key of the Secret of spec.source.writeCredentialsRef, or set spec.onFailure to ProposeRevert`,
    };
  }
  if (onto === failure.commit) return { how };
  return { how: 'Propose', note: `not pushed to the ref: it has moved from ${failure.commit} to ${onto}` };
}

function signNote(unaccepted: string, branch: string): string {
  return `sync would refuse this commit: ${unaccepted}. Sign it before you merge: git fetch origin ${branch}; git switch --detach FETCH_HEAD; git commit --amend --no-edit -S; git push --force-with-lease origin HEAD:${branch}`;
}
