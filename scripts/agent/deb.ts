// Makes a Debian package of the program of the agent.
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  AFTER_INSTALL,
  AFTER_REMOVAL,
  type AgentPackage,
  BEFORE_REMOVAL,
  CONFIG,
  CONFIG_TEXT,
  DESCRIPTION,
  PROGRAM,
  packageUnit,
  packageVersion,
  SUMMARY,
  UNIT,
} from './package-files.ts';

/** Returns the path of the package. */
export async function buildDebianPackage({ program, folder, version, arch }: AgentPackage): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'kubenode-deb-'));
  const file = join(folder, `kubenode-agent_${packageVersion(version)}_${arch}.deb`);
  try {
    const put = async (path: string, content: string, mode = 0o644): Promise<void> => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
      await chmod(join(root, path), mode);
    };
    await chmod(root, 0o755);
    await put('DEBIAN/control', control(packageVersion(version), arch));
    await put('DEBIAN/conffiles', `${CONFIG}\n`);
    await put('DEBIAN/postinst', script('[ "$1" = configure ] || exit 0\n', AFTER_INSTALL), 0o755);
    await put('DEBIAN/prerm', script('[ "$1" = remove ] || exit 0\n', BEFORE_REMOVAL), 0o755);
    await put('DEBIAN/postrm', script('', AFTER_REMOVAL), 0o755);
    await put(`lib/systemd/system/${UNIT}`, packageUnit());
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

function control(version: string, arch: string): string {
  return `Package: kubenode-agent
Version: ${version}
Architecture: ${arch}
Maintainer: kubenode <kubenode@example.invalid>
Depends: libatomic1, libc6 (>= 2.28), libstdc++6
Section: admin
Priority: optional
Description: ${SUMMARY}
 ${DESCRIPTION}
`;
}

/** Returns a script of a maintainer that acts in one case only. */
function script(condition: string, act: string): string {
  return `#!/bin/sh\nset -e\n${condition}${act}`;
}
