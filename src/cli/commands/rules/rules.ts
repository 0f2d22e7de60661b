import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createRulesBacktestCommand } from './backtest/backtest.ts';
import { createRulesExplainCommand } from './explain.ts';
import { createRulesRecordCommand } from './record/record.ts';
import { createRulesLintCommand, createRulesTestCommand } from './run.ts';

export function createRulesCommand(io: Io): Command {
  return new Command('rules')
    .description('compile, test, explain and replay self-healing rules')
    .addCommand(createRulesTestCommand(io))
    .addCommand(createRulesLintCommand(io))
    .addCommand(createRulesExplainCommand(io))
    .addCommand(createRulesRecordCommand(io))
    .addCommand(createRulesBacktestCommand(io));
}
