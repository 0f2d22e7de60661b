/** Defines what a command of the agent takes, for `kubenode agent` and for the program of the agent, which has no npm package. */
export interface AgentOption {
  readonly name: string;
  /** The letter of the short form. */
  readonly short?: string;
  /** The placeholder of the value. Without it the option is a flag. */
  readonly value?: string;
  readonly description: string;
  readonly required?: true;
  readonly choices?: readonly string[];
  readonly default?: string | number;
  /** An integer from 0 to this. */
  readonly max?: number;
}

export interface AgentCommandDefinition {
  readonly description: string;
  readonly argument?: { readonly name: string; readonly description: string };
  readonly options: readonly AgentOption[];
  readonly help?: string;
}

/** Returns an option as people type it: `-o, --output <format>`. */
export function formatOptionName({ name, short, value }: AgentOption): string {
  const letter = short === undefined ? '' : `-${short}, `;
  return `${letter}--${name}${value === undefined ? '' : ` <${value}>`}`;
}

export const MACHINE_OPTION: AgentOption = {
  name: 'machine',
  value: 'name',
  description: 'name of the Machine',
  required: true,
};

export const DIRECTORY_OPTION: AgentOption = {
  name: 'directory',
  value: 'folder',
  description: 'directory of the sandbox',
};

export const PORT_OPTION: AgentOption = {
  name: 'port',
  value: 'number',
  description: 'port of health and metrics on localhost; 0 selects a free one',
  default: 0,
  max: 65_535,
};

export const BOOTSTRAP_OPTION: AgentOption = {
  name: 'bootstrap',
  value: 'file',
  description: 'join with this output of `kubenode machine token`',
};

/** Returns the Node.js that `--node` names; undefined for `none`: the program has it inside. */
export function runtimeOf(node: string | undefined): string | undefined {
  return node === 'none' ? undefined : node;
}
