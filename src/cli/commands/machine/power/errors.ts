/** Explains why the power of a machine was not switched, with the exit code that scripts expect. Pure. */
import type { LedgerGrant } from '../../../../api/generated/types.ts';
import { type Denial, isInFlight } from '../../../../api/grants.ts';
import type { NoPowerSwitch, PowerWay } from '../../../../providers/power.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { SequenceEnd } from './sequence.ts';

export function noSwitchError(machine: string, way: PowerWay, { because }: NoPowerSwitch): CliError {
  const hint =
    way === 'BMC'
      ? `declare the BMC of ${machine} in git (docs/guides/power.md), or name its instance with --via Provider`
      : `name its BMC with --via BMC, or look at its instance: kubenode machine show ${machine}`;
  return new CliError(because, { hint, exitCode: EXIT.badInput });
}

export function deniedError(machine: string, { reason, message, also }: Denial): CliError {
  const others = also.map((each) => `; ${each.reason}: ${each.message}`).join('');
  return new CliError(`the Defender denied to switch ${machine}: ${reason}: ${message}${others}`, {
    hint: 'wait until no reason is left: kubenode defender status',
    exitCode: EXIT.held,
  });
}

/** Returns why a person may not switch the machine on: somebody else acts on it. */
export function inUseError(
  machine: string,
  entry: LedgerGrant | undefined,
  user: string,
): CliError | undefined {
  if (!entry || !isInFlight(entry)) return undefined;
  const { kind, name } = entry.holder;
  if (kind === 'Other' && name === user) return undefined;
  return new CliError(
    `${kind} ${name} acts on machine ${machine} now: ${entry.action}, until ${entry.notAfter}`,
    {
      hint: 'wait for its end, or cancel the job: kubenode remedy cancel',
      exitCode: EXIT.held,
    },
  );
}

export function missedError(machine: string, { state, missed }: Required<SequenceEnd>): CliError {
  return new CliError(`the power of ${machine} is ${state}, and not ${missed}, although it was requested`, {
    hint: `read it again: kubenode machine power ${machine} --state. Nothing else was requested`,
    exitCode: EXIT.unavailable,
  });
}
