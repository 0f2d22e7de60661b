// Makes a Debian package of the program of the agent: the program, a unit, and a config file that names the Machine.
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { formatAgentUnit } from '../../src/agent/install/own-unit.ts';

export interface DebianPackage {
  readonly program: string;
  readonly folder: string;
  readonly version: string;
  readonly arch: string;
}

const PROGRAM = '/usr/bin/kubenode-agent';
const CONFIG = '/etc/kubenode/agent.env';
const MACHINE = 'KUBENODE_MACHINE';
const FLAGS = 'KUBENODE_AGENT_FLAGS';

/** Returns the path of the package. */
export async function buildDebianPackage({ program, folder, version, arch }: DebianPackage): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'kubenode-deb-'));
  const file = join(folder, `kubenode-agent_${version}_${arch}.deb`);
  try {
    const put = async (path: string, content: string, mode = 0o644): Promise<void> => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
      await chmod(join(root, path), mode);
    };
    await chmod(root, 0o755);
    await put('DEBIAN/control', control(version, arch));
    await put('DEBIAN/conffiles', `${CONFIG}\n`);
    await put('DEBIAN/postinst', POSTINST, 0o755);
    await put('DEBIAN/prerm', PRERM, 0o755);
    await put('DEBIAN/postrm', POSTRM, 0o755);
    await put('lib/systemd/system/kubenode-agent.service', packageUnit());
    await put(CONFIG, CONFIG_TEXT, 0o600);
    await mkdir(join(root, dirname(PROGRAM)), { recursive: true });
    await copyFile(program, join(root, PROGRAM));
    await chmod(join(root, PROGRAM), 0o755);
    // gzip: the oldest dpkg that may read it knows no zstd, and xz takes minutes.
    const ran = spawnSync('dpkg-deb', ['--build', '--root-owner-group', '-Zgzip', root, file], {
      encoding: 'utf8',
    });
    if (ran.error) {
      throw new Error('dpkg-deb is needed for a .deb: run this on Debian or Ubuntu', { cause: ran.error });
    }
    if (ran.status !== 0) throw new Error(`dpkg-deb failed: ${ran.stderr.trim()}`);
    return file;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Returns the unit of the agent with the Machine and further options from the config file. */
export function packageUnit(): string {
  const unit = formatAgentUnit({ machine: MACHINE, program: PROGRAM, port: 0 });
  return unit
    .replace(`--machine ${MACHINE} `, `--machine \${${MACHINE}} `)
    .replace(/^(?<start>ExecStart=.*)$/m, `EnvironmentFile=${CONFIG}\n$<start> $${FLAGS}`);
}

function control(version: string, arch: string): string {
  return `Package: kubenode-agent
Version: ${version}
Architecture: ${arch}
Maintainer: kubenode <kubenode@example.invalid>
Depends: libatomic1, libc6 (>= 2.28), libstdc++6
Section: admin
Priority: optional
Description: agent of kubenode, which keeps the components of a Kubernetes node
 One program with Node.js inside. It is started when ${CONFIG} names a Machine.
`;
}

const CONFIG_TEXT = `# The Machine that this host is. The agent is started when it is set: systemctl enable --now kubenode-agent
${MACHINE}=
# More options of kubenode-agent run, such as: --bootstrap /etc/kubenode/bootstrap.json
${FLAGS}=
`;

const POSTINST = `#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
if grep -q '^${MACHINE}=.' ${CONFIG}; then
  systemctl enable --quiet kubenode-agent.service
  systemctl try-restart kubenode-agent.service
  systemctl start kubenode-agent.service
else
  echo "kubenode-agent: set ${MACHINE} in ${CONFIG}, then: systemctl enable --now kubenode-agent"
fi
`;

const PRERM = `#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
[ -d /run/systemd/system ] || exit 0
systemctl disable --quiet --now kubenode-agent.service
`;

const POSTRM = `#!/bin/sh
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
`;
