/** Runs `kubenode why machine`: explains what happens on one machine, or does not. */
import { createCallWindow } from '../../../defender/facts/call-window.ts';
import { type ConnectionFlags, connectFrom } from '../../connection.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { waitVisibly } from '../../fleet/defender-session.ts';
import { explainMachineNow } from '../../fleet/why/explain.ts';
import { formatWhy } from '../../fleet/why/format.ts';
import type { Io } from '../../io.ts';
import { type OutputFormat, printResult } from '../../output.ts';

export interface WhyFlags extends ConnectionFlags {
  readonly output: OutputFormat;
}

export async function whyMachine(io: Io, name: string, flags: WhyFlags): Promise<void> {
  const calls = createCallWindow(io.clock);
  const client = await connectFrom(io, flags, (report) => calls.add(report));
  try {
    const explained = await explainMachineNow(io, { client, calls }, name, { wait: waitVisibly(io) });
    if (flags.output === 'table') io.out(formatWhy(explained, io.clock.now()));
    else printResult(io, flags.output, explained, () => ({ columns: [], rows: [] }));
    if (explained.unknown) setExitCode(io, EXIT.incomplete);
  } finally {
    await client.close();
  }
}
