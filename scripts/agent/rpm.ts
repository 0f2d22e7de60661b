// Makes an RPM package of the program of the agent, with the content of the Debian package.
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentArch } from './executable.ts';
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

const RPM_ARCHES: Readonly<Record<AgentArch, string>> = { amd64: 'x86_64', arm64: 'aarch64' };
const RELEASE = '1';

/** Returns the path of the package. */
export async function buildRpmPackage({ program, folder, version, arch }: AgentPackage): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'kubenode-rpm-'));
  try {
    const sources = join(work, 'SOURCES');
    await mkdir(sources);
    await copyFile(program, join(sources, 'kubenode-agent'));
    await writeFile(join(sources, UNIT), packageUnit());
    await writeFile(join(sources, 'agent.env'), CONFIG_TEXT);
    const spec = join(work, 'kubenode-agent.spec');
    await writeFile(spec, specOf(packageVersion(version)));
    runRpmbuild(['-bb', `--target=${RPM_ARCHES[arch]}-linux`, '--define', `_topdir ${work}`, spec]);
    const name = `kubenode-agent-${packageVersion(version)}-${RELEASE}.${RPM_ARCHES[arch]}.rpm`;
    const file = join(folder, name);
    await copyFile(join(work, 'RPMS', RPM_ARCHES[arch], name), `${file}.tmp`);
    await rename(`${file}.tmp`, file);
    return file;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function runRpmbuild(args: readonly string[]): void {
  const { error, status, stderr } = spawnSync('rpmbuild', args, { encoding: 'utf8' });
  if (error) throw new Error('rpmbuild is needed for a .rpm: install the package rpm', { cause: error });
  if (status !== 0) throw new Error(`rpmbuild failed: ${stderr.trim()}`);
}

/**
 * The libraries are required by the names that rpm finds in programs, because the packages that have them are named differently on Fedora
 * and SUSE. Nothing changes the program: stripped, it loses its bundle. The scripts get the number of versions that are installed after the act.
 */
function specOf(version: string): string {
  return `%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w6.gzdio
%global _buildhost localhost

Name: kubenode-agent
Version: ${version}
Release: ${RELEASE}
Summary: ${SUMMARY}
License: Apache-2.0
AutoReqProv: no
Requires: libatomic.so.1()(64bit), libc.so.6(GLIBC_2.28)(64bit), libstdc++.so.6()(64bit)

%description
${DESCRIPTION}

%install
install -D -m 0755 %{_sourcedir}/kubenode-agent %{buildroot}${PROGRAM}
install -D -m 0644 %{_sourcedir}/${UNIT} %{buildroot}/usr/lib/systemd/system/${UNIT}
install -D -m 0600 %{_sourcedir}/agent.env %{buildroot}${CONFIG}

%files
%defattr(-, root, root)
${PROGRAM}
/usr/lib/systemd/system/${UNIT}
%config(noreplace) ${CONFIG}

%post
${AFTER_INSTALL}
%preun
[ "$1" = 0 ] || exit 0
${BEFORE_REMOVAL}
%postun
${AFTER_REMOVAL}`;
}
