/** `kubenode defender close`: a person closes a breaker, and its earlier trips are forgotten. */
import { Command } from 'commander';
import type { DefenderLedger, DefenderLedgerSpec } from '../../../api/generated/types.ts';
import { FLEET_DEFAULT, LEDGER } from '../../../api/names.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { withDefender } from '../../fleet/defender-session.ts';
import type { Io } from '../../io.ts';
import { parseReason } from './reason.ts';

const HELP = `
Names a breaker as kubenode defender status shows it: POLICY/BREAKER/KEY, or BREAKER/KEY of fleet-default. It opens again when its
cause is still there. Your name and the reason stay in spec.closures of the DefenderLedger, and in an Event. Needs the permission to impersonate kubenode-defender.`;

interface Flags extends ConnectionFlags {
  readonly reason: string;
}

export function createCloseCommand(io: Io): Command {
  const command = new Command('close')
    .description('close a breaker that waits for a person')
    .argument('<breaker>', 'the breaker, as kubenode defender status shows it')
    .requiredOption('--reason <text>', 'why: recorded with your name', parseReason)
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, { reason, ...flags }: Flags) =>
    withDefender(io, flags, async ({ defender, user }) => {
      // The view of this kind holds ledgers.
      const ledger = defender.views['DefenderLedger']?.store.get(LEDGER) as DefenderLedger | undefined;
      const id = findBreaker(ledger?.spec.breakers ?? {}, name);
      await defender.ledger.closeBreaker(id, {
        by: user.name.slice(0, 128),
        reason,
        at: io.clock.now().toISOString(),
      });
      io.out(`breaker ${id} closed. It opens again if its cause is still there\n`);
    }),
  );
}

export function findBreaker(breakers: DefenderLedgerSpec['breakers'], name: string): string {
  const id = [name, `${FLEET_DEFAULT}/${name}`].find((each) => Object.hasOwn(breakers, each));
  if (id !== undefined) return id;
  const names = Object.keys(breakers);
  throw new CliError(`breaker ${name} is not open`, {
    hint: names.length > 0 ? `use one of: ${names.join(', ')}` : 'all breakers are closed',
    exitCode: EXIT.badInput,
  });
}
