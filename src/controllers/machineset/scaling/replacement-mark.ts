/**
 * Reads who wants a machine to be replaced: a repair job, by `status.replacement`, or a person, by an annotation. Each has its own field,
 * so that neither overwrites the other. Pure.
 */
import type { Machine } from '../../../api/generated/types.ts';
import type { GrantRenewal } from '../../../api/grants.ts';
import { ANNOTATION_REPLACE_MACHINE, REPLACE_DELETE_FIRST } from '../../../api/names.ts';

export interface ReplacementMark {
  /** Whether the replacement is available before the machine is deleted. */
  readonly isReplacementFirst: boolean;
  readonly because: string;
  /** The grant of the job, which covers the deletion. Without it the set asks for its own. */
  readonly grant?: Pick<GrantRenewal, 'id' | 'fence'>;
  /** Whether only a machine that is not Ready is meant: one that is Ready again came back. */
  readonly isOnlyUnready: boolean;
}

/** Returns the mark of the job before that of a person: never two grants for one act. */
export function replacementMarkOf({ metadata, status }: Machine): ReplacementMark | undefined {
  const { replacement } = status ?? {};
  if (replacement) {
    const { job, grant, fence, replacementFirst, wasReady } = replacement;
    return {
      isReplacementFirst: replacementFirst,
      because: `job ${job} replaces it`,
      grant: { id: grant, fence },
      isOnlyUnready: !wasReady,
    };
  }
  const value = metadata.annotations?.[ANNOTATION_REPLACE_MACHINE];
  if (value === undefined) return undefined;
  return {
    isReplacementFirst: value !== REPLACE_DELETE_FIRST,
    because: `annotation ${ANNOTATION_REPLACE_MACHINE}`,
    isOnlyUnready: false,
  };
}
