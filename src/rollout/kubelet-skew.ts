/** Compares versions of kubelets with those of the API servers that run now. Pure. */
import type { Blocker } from '../api/generated/types.ts';
import type { Explanation } from './explanation.ts';

/** The versions that the API servers report. One server that does not answer makes all of them unknown. */
export type ServerVersions =
  | { readonly state: 'Known'; readonly versions: readonly string[] }
  | { readonly state: 'Unknown'; readonly because: string };

/** How many minors a kubelet may be older than the API server: Kubernetes supports as many. */
const MAX_MINORS = 3;
const SERVICE: Blocker = { kind: 'Service', name: 'kubernetes', namespace: 'default' };

/** Returns why that kubelet may not run with these API servers. Undefined: it may. */
export function skewReason(kubelet: string, servers: ServerVersions): Explanation | undefined {
  if (servers.state === 'Unknown') {
    return unknown(`the versions of the API servers are unknown: ${servers.because}`);
  }
  // A server without a patch version emulates that minor version: every patch version of it will do.
  const versions = servers.versions.map((text) => parseVersion(text, Number.POSITIVE_INFINITY));
  const version = parseVersion(kubelet);
  const [lowest] = versions.toSorted(compare);
  if (!version || !lowest || versions.includes(undefined)) {
    const found = servers.versions.join(', ') || '(none)';
    return unknown(`cannot compare kubelet ${kubelet} with API servers ${found}`);
  }
  const because = outsideReason(version, lowest);
  return because === undefined ? undefined : { reason: 'KubeletSkew', because, blocker: SERVICE };
}

function outsideReason(kubelet: Version, server: Version): string | undefined {
  if (compare(kubelet, server) > 0) {
    return `kubelet ${kubelet.text} is newer than the API server, ${server.text}. Upgrade the API server first`;
  }
  if (kubelet.major >= server.major && server.minor - kubelet.minor <= MAX_MINORS) return undefined;
  return `kubelet ${kubelet.text} is more than ${MAX_MINORS} minors older than the API server, ${server.text}. Choose a newer kubelet`;
}

function unknown(because: string): Explanation {
  return { reason: 'ServerVersionUnknown', because, blocker: SERVICE };
}

interface Version {
  readonly text: string;
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Parses a version. What follows the three numbers is the build: `1.34.2-eks-1`, `1.34.2-0a1b2c3d`. */
function parseVersion(text: string, defaultPatch = 0): Version | undefined {
  const [, major, minor, patch = defaultPatch] = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?$/.exec(text) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { text, major: Number(major), minor: Number(minor), patch: Number(patch) };
}

function compare(a: Version | undefined, b: Version | undefined): number {
  if (!a || !b) return 0;
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
