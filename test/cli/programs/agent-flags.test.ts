import { describe, expect, it } from 'vitest';
import { AGENT_COMMANDS, type AgentCommandName } from '../../../src/cli/commands/agent/definitions.ts';
import { parseCommandArguments } from '../../../src/cli/programs/agent-flags.ts';

describe('parseCommandArguments', () => {
  it.each<[name: string, command: AgentCommandName, args: readonly string[], message: string]>([
    ['an unknown option', 'status', ['--fast'], "Unknown option '--fast'"],
    ['an option without its value', 'status', ['--directory'], 'argument missing'],
    ['a missing option', 'unit', [], '--machine <name> is required'],
    [
      'a number out of range',
      'unit',
      ['--machine', 'n1', '--port', '65536'],
      'expected an integer from 0 to 65535',
    ],
    [
      'a negative number',
      'unit',
      ['--machine', 'n1', '--port=-1'],
      'expected an integer from 0 to 65535, got "-1"',
    ],
    [
      'an unknown choice',
      'run',
      ['--machine', 'n1', '--directory', '/d', '--host', 'x'],
      '--host: expected ',
    ],
    ['a missing argument', 'why', [], 'expected one argument: component'],
    ['an argument too many', 'status', ['proxy'], 'expected no arguments'],
  ])('refuses %s', (_, command, args, message) => {
    expect(() => parseCommandArguments(AGENT_COMMANDS[command], args)).toThrow(message);
  });

  it('returns what was given, and defaults for what was not', () => {
    const { argument, flags } = parseCommandArguments(AGENT_COMMANDS.unit, ['--machine', 'n1', '--node=/n']);
    expect([argument, flags.get('machine'), flags.get('node'), flags.get('port')]).toEqual([
      '',
      'n1',
      '/n',
      '0',
    ]);
    expect(flags.find('bootstrap')).toBeUndefined();
  });

  it('returns the argument', () => {
    expect(parseCommandArguments(AGENT_COMMANDS.why, ['proxy', '--directory', '/d']).argument).toBe('proxy');
  });

  it('asks for nothing when help is requested', () => {
    expect(parseCommandArguments(AGENT_COMMANDS.run, ['-h']).help).toBe(true);
  });
});
