/** The errors for a machine that cannot be explained at all. */
import { LEDGER } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { hubHint } from '../hub.ts';

export async function unknownMachine(
  { signal }: Pick<Io, 'signal'>,
  client: Client,
  { name, isNode }: { readonly name: string; readonly isNode: boolean },
): Promise<CliError> {
  if (isNode) {
    return new CliError(`Node ${name} has no Machine: kubenode does not manage it`, {
      hint: 'declare it in a MachineSet; nothing acts on it until then',
      exitCode: EXIT.badInput,
    });
  }
  return new CliError(`there is no Machine ${name}, and no Node of that name`, {
    hint: (await hubHint(client, signal)) ?? 'list them with: kubenode machine list',
    exitCode: EXIT.badInput,
  });
}

export function noLedger(): CliError {
  return new CliError(`DefenderLedger ${LEDGER} does not exist`, {
    hint: 'run `kubenode install`; the controllers recreate a ledger that was deleted, and deny everything for 300 s',
    exitCode: EXIT.unavailable,
  });
}
