import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createRulesLintCommand, createRulesTestCommand } from './run.ts';

export function createRulesCommand(io: Io): Command {
  return new Command('rules')
    .description('compile and test the self-healing rules of a fleet repository')
    .addCommand(createRulesTestCommand(io))
    .addCommand(createRulesLintCommand(io));
}
