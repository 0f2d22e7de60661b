/** The commands that take over and release a host, as commands of `kubenode agent`. */
import type { Command } from 'commander';
import { setExitCode } from '../../../exit.ts';
import type { Io } from '../../../io.ts';
import { createDefinedCommand } from '../options.ts';
import { TAKEOVER_COMMANDS, type TakeoverCommandName } from './definitions.ts';
import { readStandardInput, runTakeover } from './run.ts';

export function createTakeoverCommands(io: Io): readonly Command[] {
  return (Object.keys(TAKEOVER_COMMANDS) as TakeoverCommandName[]).map((name) =>
    createDefinedCommand(name).action(async (flags: Readonly<Record<string, string | number | boolean>>) => {
      const find = (option: string): string | undefined => flags[camelCase(option)]?.toString();
      setExitCode(io, await runTakeover(io, name, { find, readInput: readStandardInput }));
    }),
  );
}

/** Converts the name of an option to the key that commander gives it. */
function camelCase(name: string): string {
  return name.replaceAll(/-(?<letter>\w)/g, (_, letter: string) => letter.toUpperCase());
}
