// What the Debian package and the RPM package of the agent have in common: the program, a unit, and a config file that names the Machine.
import { formatAgentUnit } from '../../src/agent/install/own-unit.ts';
import type { AgentArch } from './executable.ts';

export interface AgentPackage {
  readonly program: string;
  readonly folder: string;
  readonly version: string;
  readonly arch: AgentArch;
}

export const PROGRAM = '/usr/bin/kubenode-agent';
export const CONFIG = '/etc/kubenode/agent.env';
export const UNIT = 'kubenode-agent.service';
export const SUMMARY = 'agent of kubenode, which keeps the components of a Kubernetes node';
export const DESCRIPTION = `One program with Node.js inside. It is started when ${CONFIG} names a Machine.`;
const MACHINE = 'KUBENODE_MACHINE';
const FLAGS = 'KUBENODE_AGENT_FLAGS';

export const CONFIG_TEXT = `# The Machine that this host is. The agent is started when it is set: systemctl enable --now kubenode-agent
${MACHINE}=
# More options of kubenode-agent run, such as: --bootstrap /etc/kubenode/bootstrap.json
${FLAGS}=
`;

/** Runs after each installation and each upgrade, and does nothing in an image, where no systemd runs. */
export const AFTER_INSTALL = `[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
if grep -q '^${MACHINE}=.' ${CONFIG}; then
  systemctl enable --quiet ${UNIT}
  systemctl try-restart ${UNIT}
  systemctl start ${UNIT}
else
  echo "kubenode-agent: set ${MACHINE} in ${CONFIG}, then: systemctl enable --now kubenode-agent"
fi
`;

/** Runs before the package is removed, and not before an upgrade. */
export const BEFORE_REMOVAL = `[ -d /run/systemd/system ] || exit 0
systemctl disable --quiet --now ${UNIT}
`;

export const AFTER_REMOVAL = `[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
`;

/** Returns the unit of the agent with the Machine and further options from the config file. */
export function packageUnit(): string {
  const unit = formatAgentUnit({ machine: MACHINE, program: PROGRAM, port: 0 });
  return unit
    .replace(`--machine ${MACHINE} `, `--machine \${${MACHINE}} `)
    .replace(/^(?<start>ExecStart=.*)$/m, `EnvironmentFile=${CONFIG}\n$<start> $${FLAGS}`);
}

/** Returns the version as dpkg and rpm order it: 1.0.0-rc.1 before 1.0.0. To both a hyphen begins the revision of the package. */
export function packageVersion(version: string): string {
  return version.replaceAll('-', '~');
}
