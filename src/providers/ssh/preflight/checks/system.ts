/** Checks the operating system: what it is, and whether the agent and a kubelet can run on it. Pure. */
import { fail, type PreflightCheck, passed, unknown, type Verdict, warn } from '../check.ts';
import type { PreflightFacts } from '../facts.ts';

/** The distributions on which the tests of kubenode run, each with the oldest version. */
const TRIED: Readonly<Record<string, number>> = { debian: 11 };
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };
/** The first kernel with all that kubelet and containerd need of cgroups and overlay. */
const OLDEST_KERNEL = { major: 4, minor: 19 };
const SYSTEMD = { oldest: 239, complete: 247, newest: 257 };
const CONTROLLERS = ['cpu', 'memory', 'pids'];

const sudo: PreflightCheck = ({ facts: { uid }, notRootReason }) => {
  if (uid === 0) return passed('the script runs as root');
  if (uid === undefined) return unknown('the user');
  return fail(
    notRootReason ?? `the user has the id ${uid}`,
    'permit the user to run /bin/sh by sudo, or connect as root',
  );
};

const operatingSystem: PreflightCheck = ({ facts: { os, release } }) => {
  if (os === undefined) return unknown('the operating system');
  if (os !== 'Linux') return fail(os, 'import a host with Linux');
  return release === undefined ? warn('Linux without /etc/os-release', TRY_FIRST) : distribution(release);
};

const TRY_FIRST = 'try it on one host first';

function distribution({ id, version = '', name }: NonNullable<PreflightFacts['release']>): Verdict {
  const found = name ?? `${id} ${version}`;
  const oldest = TRIED[id];
  // The next version of a distribution has no number yet.
  const isTried = oldest !== undefined && (version === '' || Number.parseFloat(version) >= oldest);
  if (isTried) return passed(found);
  const tried = Object.entries(TRIED).map(([each, from]) => `${each} ${from}`);
  return warn(found, `${TRY_FIRST}: the tests of kubenode run on ${tried.join(' and ')}`);
}

const architecture: PreflightCheck = ({ facts: { arch } }) => {
  if (arch === undefined) return unknown('the architecture');
  const found = ARCHITECTURES[arch];
  if (found !== undefined) return passed(found);
  return fail(arch, `import a host with ${Object.keys(ARCHITECTURES).join(' or ')}`);
};

const kernel: PreflightCheck = ({ facts: { kernel: version } }) => {
  const found = /^(?<major>\d+)\.(?<minor>\d+)/.exec(version ?? '')?.groups;
  if (version === undefined || found === undefined) return unknown('the kernel');
  const { major, minor } = OLDEST_KERNEL;
  const ahead = Number(found['major']) - major || Number(found['minor']) - minor;
  return ahead < 0 ? fail(version, `install a kernel of ${major}.${minor} or later`) : passed(version);
};

const cgroup: PreflightCheck = ({ facts: { cgroupVersion } }) => {
  if (cgroupVersion === 2) return passed('version 2');
  if (cgroupVersion === undefined) return fail('no cgroups', 'mount cgroups (systemd does it)');
  return warn(
    'version 1',
    'boot with systemd.unified_cgroup_hierarchy=1: a kubelet of 1.35 or later does not start on version 1 by default',
  );
};

const cgroupControllers: PreflightCheck = ({ facts: { cgroupControllers: found } }) => {
  if (found === undefined) return unknown('the list of controllers');
  const missing = CONTROLLERS.filter((name) => !found.includes(name));
  if (missing.length === 0) return passed(CONTROLLERS.join(', '));
  return fail(`${missing.join(', ')} missing`, 'enable them on the command line of the kernel');
};

const systemd: PreflightCheck = ({ facts: { hasSystemd, systemdVersion } }) => {
  if (!hasSystemd) return fail('systemd does not run', 'import a host whose init is systemd');
  if (systemdVersion === undefined) return unknown('the version of systemd');
  const { oldest, complete, newest } = SYSTEMD;
  const found = `version ${systemdVersion}`;
  if (systemdVersion < oldest) return fail(found, `install systemd ${oldest} or later`);
  if (systemdVersion < complete) {
    return warn(found, `upgrade to ${complete} or later: the unit of the agent needs settings of it`);
  }
  if (systemdVersion > newest) return warn(found, `try it on one host first: newer than ${newest}`);
  return passed(found);
};

const programs: PreflightCheck = ({ facts: { programs: found } }) => {
  const missing = ['mount', 'umount', 'tar'].filter((name) => !found.includes(name));
  if (missing.length > 0) return fail(`${missing.join(', ')} missing`, 'install them');
  if (found.includes('iptables') || found.includes('nft')) return passed('mount, tar, iptables or nft');
  return warn(
    'neither iptables nor nft',
    'install one of them: kube-proxy and most network plug-ins need it',
  );
};

/** The Node.js in the program of the agent is linked to these. */
const libraries: PreflightCheck = ({ facts: { libraries: found } }) => {
  const missing = ['libatomic.so.1', 'libstdc++.so.6'].filter((name) => !found.includes(name));
  if (missing.length === 0) return passed('libatomic, libstdc++');
  return fail(
    `${missing.join(', ')} missing`,
    'install libatomic1 and libstdc++6 (Debian, Ubuntu), or libatomic and libstdc++ (Fedora, RHEL): the agent needs them',
  );
};

const kernelModules: PreflightCheck = ({ facts: { modules, missingModules } }) => {
  if (missingModules.includes('overlay')) {
    return fail('overlay missing', 'install the modules of this kernel: containerd needs overlay');
  }
  if (missingModules.length > 0) {
    return warn(`${missingModules.join(', ')} missing`, 'install the modules of this kernel');
  }
  return modules.length > 0 ? passed(modules.join(', ')) : unknown('the modules of the kernel');
};

const seLinux: PreflightCheck = ({ facts: { selinuxEnforce } }) => {
  if (selinuxEnforce !== '1') return passed(selinuxEnforce === '0' ? 'permissive' : 'not in use');
  return warn('enforcing', 'install a policy for containers (container-selinux), or set it to permissive');
};

/** Values that a kubelet or its pods need. The components of a fleet may set them, so that they are only a warning. */
const SYSCTLS: Readonly<Record<string, number>> = {
  'net.ipv4.ip_forward': 1,
  'net.bridge.bridge-nf-call-iptables': 1,
  'vm.overcommit_memory': 1,
  'fs.inotify.max_user_instances': 512,
};

const sysctls: PreflightCheck = ({ facts: { sysctls: found } }) => {
  if (Object.keys(found).length === 0) return unknown('the settings of the kernel');
  const low = Object.entries(SYSCTLS).filter(([name, least]) => (found[name] ?? least) < least);
  if (low.length === 0) return passed('as a kubelet needs them');
  return warn(
    low.map(([name]) => `${name}=${found[name]}`).join(', '),
    `let a component set ${low.map(([name, least]) => `${name}=${least}`).join(', ')}`,
  );
};

export const SYSTEM_CHECKS: Readonly<Record<string, PreflightCheck>> = {
  Sudo: sudo,
  OperatingSystem: operatingSystem,
  Architecture: architecture,
  Kernel: kernel,
  Cgroup: cgroup,
  CgroupControllers: cgroupControllers,
  Systemd: systemd,
  Programs: programs,
  Libraries: libraries,
  KernelModules: kernelModules,
  SELinux: seLinux,
  Sysctls: sysctls,
};
