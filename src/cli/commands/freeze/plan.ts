/** Plans the freeze that `kubenode freeze` prints or commits. Pure. */
import type { Freeze, Pipeline } from '../../../api/generated/types.ts';
import { wholeSeconds } from '../../../os/dates.ts';
import { CliError, EXIT } from '../../errors.ts';

export interface FreezeRequest {
  readonly from: Date;
  readonly until: Date;
  readonly reason: string;
  /** Default: the day on which it begins. */
  readonly name?: string;
}

/** The limits of `spec.freezes` in the kind. */
const MAX_FREEZES = 32;
const MAX_REASON = 256;
const MAX_NAME = 63;

/** Returns the entry for `spec.freezes`. A freeze that is over is refused: it would hold nothing. */
export function planFreeze(
  { metadata, spec }: Pick<Pipeline, 'metadata' | 'spec'>,
  { from, until, reason, name = `freeze-${wholeSeconds(from).slice(0, 10)}` }: FreezeRequest,
  now: Date,
): Freeze {
  checkTimes(from, until, now);
  checkLength('reason', reason.trim() === '' ? '' : reason, MAX_REASON);
  checkLength('name', name, MAX_NAME);
  if (spec.freezes.some((freeze) => freeze.name === name)) {
    throw refused(
      `Pipeline ${metadata.name} has a freeze ${name} already`,
      'give it another --name, or change that one in git',
    );
  }
  if (spec.freezes.length >= MAX_FREEZES) {
    throw refused(
      `Pipeline ${metadata.name} has ${MAX_FREEZES} freezes already`,
      'remove those that are over from spec.freezes',
    );
  }
  return { name, from: wholeSeconds(from), until: wholeSeconds(until), reason };
}

function checkTimes(from: Date, until: Date, now: Date): void {
  if (until <= from) {
    throw refused(
      `it ends at ${wholeSeconds(until)}, before it begins at ${wholeSeconds(from)}`,
      'name a later --until',
    );
  }
  if (until <= now) throw refused(`it is over since ${wholeSeconds(until)}`, 'name an --until in the future');
}

function checkLength(what: 'reason' | 'name', text: string, max: number): void {
  if (text.length >= 1 && text.length <= max) return;
  throw refused(`expected a ${what} of 1 to ${max} characters, got ${text.length}`, HINTS[what]);
}

const HINTS = {
  reason: 'tell people in --reason why nothing may change',
  name: 'give it another --name',
} as const;

function refused(because: string, hint: string): CliError {
  return new CliError(`the freeze cannot be declared: ${because}`, { hint, exitCode: EXIT.badInput });
}
