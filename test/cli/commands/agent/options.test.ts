import { describe, expect, it } from 'vitest';
import { AGENT_COMMANDS, type AgentCommandName } from '../../../../src/cli/commands/agent/definitions.ts';
import { createDefinedCommand } from '../../../../src/cli/commands/agent/options.ts';

function parse(name: AgentCommandName, ...args: string[]): Readonly<Record<string, unknown>> {
  const command = createDefinedCommand(name)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

describe('createDefinedCommand', () => {
  it.each(Object.keys(AGENT_COMMANDS) as AgentCommandName[])(
    'gives %s its description and options',
    (name) => {
      const command = createDefinedCommand(name);
      expect(command.description()).toBe(AGENT_COMMANDS[name].description);
      const options = command.options.map(({ long }) => long);
      expect(options).toEqual(AGENT_COMMANDS[name].options.map((option) => `--${option.name}`));
    },
  );

  it('applies defaults and parses numbers', () => {
    expect(parse('unit', '--machine', 'n1')).toMatchObject({ machine: 'n1', port: 0 });
    expect(parse('unit', '--machine', 'n1', '--port', '9100')).toMatchObject({ port: 9100 });
  });

  it.each<[name: string, command: AgentCommandName, args: readonly string[], message: string]>([
    ['a missing option', 'unit', [], "required option '--machine <name>' not specified"],
    [
      'a number out of range',
      'unit',
      ['--machine', 'n1', '--port', '65536'],
      'Expected an integer from 0 to 65535',
    ],
    [
      'an unknown choice',
      'run',
      ['--machine', 'n1', '--directory', '/d', '--host', 'docker'],
      'Allowed choices are',
    ],
  ])('refuses %s', (_, command, args, message) => {
    expect(() => parse(command, ...args)).toThrow(message);
  });
});
