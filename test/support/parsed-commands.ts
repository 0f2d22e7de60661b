/** Parses command lines of kubenode as the program does, and runs none of them. */
import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { testIo } from './test-io.ts';

/** Why the program does not accept these words. */
export type RefusedReason = (words: readonly string[]) => string | undefined;

export async function createRefusedReason(): Promise<RefusedReason> {
  const program = await createProgram(testIo(), []);
  for (const command of program.commands) withoutActions(command);
  return (words) => {
    try {
      program.parse([...words], { from: 'user' });
      return undefined;
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof CommanderError && error.exitCode === 0) return undefined;
      return `kubenode ${words.join(' ')}: ${message.replace(/^error: /, '').split('\n')[0]}`;
    }
  };
}

/** A group has no options, and prints its help: it needs one of its commands. */
function withoutActions(command: Command): void {
  if (command.commands.length === 0 || command.options.length > 0) command.action(() => undefined);
  for (const child of command.commands) withoutActions(child);
}
