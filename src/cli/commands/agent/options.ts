/** Makes commands of commander from the definitions. */
import { Command, Option } from 'commander';
import { createIntegerParser } from '../../option-parsers.ts';
import { AGENT_COMMANDS, type AgentCommandName } from './definitions.ts';
import { type AgentOption, formatOptionName } from './option.ts';

export function createDefinedCommand(name: AgentCommandName): Command {
  const { description, argument, options, help } = AGENT_COMMANDS[name];
  const command = new Command(name).description(description);
  if (argument) command.argument(`<${argument.name}>`, argument.description);
  for (const option of options) command.addOption(createOption(option));
  return help === undefined ? command : command.addHelpText('after', help);
}

function createOption(definition: AgentOption): Option {
  const option = new Option(formatOptionName(definition), definition.description);
  if (definition.choices) option.choices(definition.choices);
  if (definition.max !== undefined) option.argParser(createIntegerParser(0, definition.max));
  if (definition.default !== undefined) option.default(definition.default);
  return option.makeOptionMandatory(definition.required === true);
}
