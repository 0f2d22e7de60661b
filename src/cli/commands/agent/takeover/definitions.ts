/** The commands with which a host is taken over and released: by a person, in an image, or by the machine controller over SSH. */
import {
  type AgentCommandDefinition,
  type AgentOption,
  BOOTSTRAP_OPTION,
  DIRECTORY_OPTION,
  MACHINE_OPTION,
  PORT_OPTION,
} from '../option.ts';

export type TakeoverCommandName = 'install' | 'request' | 'accept' | 'release' | 'uninstall';

const HOST: AgentOption = {
  name: 'host',
  value: 'type',
  description: 'how to act on the host',
  choices: ['systemd', 'sandbox'],
  default: 'systemd',
};
const MACHINE_UID: AgentOption = {
  name: 'machine-uid',
  value: 'uid',
  description: 'UID of the Machine; a host that belongs to another one is refused',
};
const OUTPUT: AgentOption = {
  name: 'output',
  short: 'o',
  value: 'format',
  description: 'output format',
  choices: ['table', 'json'],
  default: 'table',
};
const PLACE = [HOST, DIRECTORY_OPTION];

const RELEASE_HELP = `
Needs no API server: it undoes what the agent and \`install\` recorded on this host. Components are stopped and removed before those that
they depend on, and what was there before comes back. Then the unit, the state and the program of the agent are removed. Each step is
recorded before it is done: after an interruption, run the same command again. Prints what is left, and exits with 1 if a step failed.`;

export const TAKEOVER_COMMANDS: Readonly<Record<TakeoverCommandName, AgentCommandDefinition>> = {
  install: {
    description: 'place the program and the unit of the agent on this host',
    options: [
      {
        name: 'machine',
        value: 'name',
        description: 'name of the Machine; without it, the Node of the certificate that --bootstrap names',
      },
      MACHINE_UID,
      { name: 'cluster-uid', value: 'uid', description: 'UID of the cluster of the Machine' },
      BOOTSTRAP_OPTION,
      { name: 'program', value: 'file', description: 'this program is at that path and stays there' },
      PORT_OPTION,
      ...PLACE,
      OUTPUT,
    ],
    help: `
Records in /var/lib/kubenode/import.json what it takes over, before it changes anything. Reads {"machineUid": …, "clusterUid": …} from
stdin unless --machine-uid is given; an empty stdin is allowed. The agent is started when it has a certificate or --bootstrap. May be
repeated. A host of another Machine is refused with exit code 65, and HostInUse as the first word.`,
  },
  request: {
    description: 'print the certificate request of the agent; the key stays on this host',
    options: [
      MACHINE_OPTION,
      { name: 'renew', description: 'make another key although the host has a valid certificate' },
      ...PLACE,
    ],
    help: `
The key is made once: the same one is used until its certificate is accepted. Without --renew, a host with a valid certificate prints the
request of that key again.`,
  },
  accept: {
    description: 'store the certificate that was issued for the request, and start the agent',
    options: [MACHINE_OPTION, ...PLACE],
    help: `
Reads {"certificatePem": …, "server": …, "ca": …} from stdin; ca is a certificate in PEM, and may be missing.`,
  },
  release: {
    description: 'undo the installation and remove the agent from this host',
    options: [
      {
        name: 'cleanup',
        value: 'how',
        description:
          'Restore what was there before; Wipe removes data of components, too; Orphan keeps components',
        choices: ['Restore', 'Wipe', 'Orphan'],
        default: 'Restore',
      },
      MACHINE_UID,
      ...PLACE,
      OUTPUT,
    ],
    help: RELEASE_HELP,
  },
  uninstall: {
    description: 'the same as release --cleanup Restore',
    options: [MACHINE_UID, ...PLACE, OUTPUT],
    help: RELEASE_HELP,
  },
};
