/** The commands of the agent and their options, for `kubenode agent` and for the bundle, which has no npm package. */
import {
  type AgentCommandDefinition,
  type AgentOption,
  BOOTSTRAP_OPTION,
  DIRECTORY_OPTION,
  MACHINE_OPTION,
  PORT_OPTION,
} from './option.ts';
import { TAKEOVER_COMMANDS, type TakeoverCommandName } from './takeover/definitions.ts';

export type AgentCommandName =
  | 'run'
  | 'status'
  | 'components'
  | 'why'
  | 'unit'
  | 'watchdog'
  | TakeoverCommandName;

const HOST: AgentOption = {
  name: 'host',
  value: 'type',
  description: 'how to act on the host',
  choices: ['sandbox', 'systemd'],
  default: 'sandbox',
};

export const AGENT_COMMANDS: Readonly<Record<AgentCommandName, AgentCommandDefinition>> = {
  run: {
    description: 'run the agent of a machine until it is stopped',
    options: [
      MACHINE_OPTION,
      HOST,
      DIRECTORY_OPTION,
      PORT_OPTION,
      BOOTSTRAP_OPTION,
      {
        name: 'healthy-within',
        value: 'seconds',
        description: 'how long a new version of the agent may take to prove that it is healthy',
        default: 60,
        max: 3600,
      },
    ],
    help: `
Keeps the components of one Machine at their version, with their config, running: installs what the Machine declares,
writes back what differs, and rolls back what does not become healthy. While the API server is away it works from the
last accepted state. --host systemd acts on this machine: its files, its units, its processes; it needs root. --host
sandbox needs no root: the files of the host are below --directory, and its units are processes of this machine, which
survive the agent.

With --bootstrap the agent makes a key on this host, gets its certificate with the token in that file, and renews it. Later
starts need neither the file nor another option.

  kubenode machine token n1 > bootstrap.json
  kubenode agent run --host sandbox --directory /tmp/n1 --machine n1 --bootstrap bootstrap.json
  kubenode agent run --host systemd --machine n1 --bootstrap bootstrap.json`,
  },
  status: {
    description: 'show the conditions of the machine, each component, and the steps of repair jobs',
    options: [DIRECTORY_OPTION],
    help: `
Reads what the agent last wrote on its host, so it answers without the agent and without the API server. Exits with 1 if
no agent runs, a component is not committed and running, or a difference is not corrected.`,
  },
  components: { description: 'list the components of the machine', options: [DIRECTORY_OPTION] },
  why: {
    description: 'explain the state of one component',
    argument: { name: 'component', description: 'name of the component' },
    options: [DIRECTORY_OPTION],
  },
  watchdog: {
    description: 'watch an upgrade of the agent; the agent starts it',
    options: [HOST, DIRECTORY_OPTION],
    help: `
Runs the old version of the agent. Starts the new one, keeps it when it has proved that it is healthy, and otherwise starts the old one
again. Ends at once when no upgrade is under way.`,
  },
  unit: {
    description: 'print a hardened systemd unit that runs the agent of a machine',
    options: [
      MACHINE_OPTION,
      BOOTSTRAP_OPTION,
      {
        name: 'program',
        value: 'file',
        description: 'the program of the agent on the host',
        default: '/usr/local/lib/kubenode/agent.mjs',
      },
      {
        name: 'node',
        value: 'file',
        description: 'Node.js 24 or later on the host; none for a program that has it inside',
        default: '/usr/local/bin/node',
      },
      PORT_OPTION,
    ],
    help: `
Comments in the unit explain what the agent may do on the host, and why. \`npm run bundle:agent\` builds the program, one file without
any npm package. \`kubenode-agent install\` writes and enables the unit as well.

  kubenode agent unit --machine n1 --bootstrap /etc/kubenode/bootstrap.json > /etc/systemd/system/kubenode-agent.service`,
  },
  ...TAKEOVER_COMMANDS,
};
