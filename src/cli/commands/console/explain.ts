/** Explains a machine for the console: as `kubenode why machine` prints it, with a connection of its own. */
import type { ExplainMachine } from '../../../console/server/explainer.ts';
import { createCallWindow } from '../../../defender/facts/call-window.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { CallReport } from '../../../kube/client/request.ts';
import { CliError } from '../../errors.ts';
import { explainMachineNow } from '../../fleet/why/explain.ts';
import { formatWhy } from '../../fleet/why/format.ts';
import type { Io } from '../../io.ts';

export type OnCall = (report: CallReport) => void;

/** Connects to the cluster of this name. The Defender judges its own view by the calls that are reported. */
export type ConnectToExplain = (
  cluster: string,
  onCall: OnCall,
  asked: { readonly signal: AbortSignal },
) => Promise<Client>;

export function createWhyText({ clock }: Pick<Io, 'clock'>, connectTo: ConnectToExplain): ExplainMachine {
  return async (cluster, name, signal) => {
    const calls = createCallWindow(clock);
    const client = await connectTo(cluster, (report) => calls.add(report), { signal });
    try {
      // What the views cannot read is in the answer, or ends it.
      const io = { clock, signal, err: () => undefined };
      return formatWhy(await explainMachineNow(io, { client, calls }, name), clock.now());
    } catch (error) {
      throw error instanceof CliError && error.hint !== undefined
        ? new Error(`${error.message}: ${error.hint}`, { cause: error })
        : error;
    } finally {
      await client.close();
    }
  };
}
