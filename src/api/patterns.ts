/** The patterns of all fields, each with a description for error messages. No npm package here. */
export interface Pattern {
  /** RE2 syntax, as in the API server. */
  readonly regex: string;
  /** Completes "must be …". */
  readonly description: string;
}

export const CLOCK_TIME: Pattern = {
  regex: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  description: 'a time of day as HH:MM, such as 09:30',
};
export const MOMENT: Pattern = {
  regex:
    '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$',
  description: 'a time in RFC 3339, such as 2026-11-20T07:00:00Z',
};
export const NUMBERED_VERSION: Pattern = {
  regex: '^v?[0-9]+([.-][0-9]+)*$',
  description: 'a version of numbers, such as 1.34 or 6.1.0-18',
};
export const SHARE: Pattern = {
  regex: '^(100|[1-9]?[0-9])%$',
  description: 'a number, or a percentage such as "10%"',
};
export const REASON: Pattern = {
  regex: '^[A-Z][A-Za-z0-9]*$',
  description: 'a CamelCase word, such as Soaking',
};
export const CONDITION_REASON: Pattern = {
  regex: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
  description: 'a CamelCase word, such as Soaking',
};
export const DIGEST: Pattern = {
  regex: '^sha256:[a-f0-9]{64}$',
  description: '"sha256:" and 64 hex digits in lower case',
};
export const SHA256: Pattern = {
  regex: '^[a-f0-9]{64}$',
  description: '64 hex digits in lower case, as sha256sum prints them',
};
export const BACKUP_PATTERN: Pattern = {
  regex: '^(latest|[0-9]{6}-[0-9]{8}T[0-9]{6}Z)$',
  description: '"latest", or the name of a backup, such as 000042-20261127T093000Z',
};
export const UUID: Pattern = {
  regex: '^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{12}$',
  description: 'a UID, such as 0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11',
};
export const FIELD_PATH: Pattern = {
  regex: '^[A-Za-z][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+|[[]"[^"]+"[]])*$',
  description: 'a field such as spec.replicas, data["a.conf"] or metadata.annotations["example.com/a"]',
};
export const UNIT_NAME: Pattern = {
  regex: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
  description: 'the name of a unit: lower-case letters, digits and "-"',
};
export const ACCOUNT: Pattern = {
  regex: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
  description: 'a ServiceAccount as namespace/name',
};
export const PAUSED_OBJECT: Pattern = {
  regex: '^[A-Za-z][A-Za-z0-9]{0,62}(/[!-.0-~]+){1,2}$',
  description: 'an object as Kind/namespace/name, or Kind/name if it has no namespace',
};
export const HTTPS_URL: Pattern = { regex: '^https://', description: 'a URL that begins with https://' };
/** Without user, path and query: only a host can be compared with those that a Secret names. */
export const BMC_URL: Pattern = {
  regex: '^https://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$',
  description: 'a URL as https://HOST[:PORT], without a path',
};
export const BMC_SYSTEM: Pattern = {
  regex: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'the id of a system in /redfish/v1/Systems, such as 437XR1138R2',
};
export const HTTP_URL: Pattern = {
  regex: '^https?://',
  description: 'a URL that begins with https:// or http://',
};
export const ARTIFACT_URL: Pattern = {
  regex: '^(https?://|file:///|oci://)',
  description: 'a URL that begins with https://, http://, file:/// or oci://',
};
export const KUBERNETES_VERSION_PATTERN: Pattern = {
  regex: '^v1\\.[0-9]+\\.[0-9]+$',
  description: 'a version of Kubernetes, such as v1.31.4',
};
export const COMMIT: Pattern = {
  regex: '^[0-9a-f]{40}([0-9a-f]{24})?$',
  description: 'a whole commit id: 40 or 64 hex digits in lower case',
};
export const CASE: Pattern = { regex: '^[0-9a-f]{8}$', description: '8 hex digits in lower case' };
export const STEP_VERSION: Pattern = {
  regex: '^[A-Z][A-Za-z]*@v[0-9]+$',
  description: 'a step and its version, such as Reboot@v1',
};
export const FACT_PATH: Pattern = {
  regex: '^\\$(\\.[a-zA-Z]+)+$',
  description: 'a path of field names, such as $.usedPercent',
};
export const FINGERPRINT: Pattern = {
  regex: '^SHA256:[A-Za-z0-9+/]{43}$',
  description: '"SHA256:" and 43 characters, as `ssh-keygen -l` prints it',
};
export const COMPONENT_NAME: Pattern = {
  regex: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
  description: 'lower-case letters, digits and "-", such as node-exporter',
};
export const COMPONENT_VERSION: Pattern = {
  regex: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
  description: 'lower-case letters, digits, "." and "-", such as 1.31.4',
};
export const SIZE: Pattern = {
  regex: '^[1-9][0-9]{0,11}(Ki|Mi|Gi|Ti)?$',
  description: 'a size in bytes, such as 40Gi',
};
export const SOCKET_PATH: Pattern = {
  regex: '^(/|[$][{](dir|data)[}]/).+$',
  description: 'an absolute path, such as /run/containerd/containerd.sock',
};
export const FILE_MODE: Pattern = {
  regex: '^0[0-7]{3}$',
  description: 'a file mode in quotes, such as "0644"',
};
/** Not the root of something else: what it matches may be removed. */
export const STATE_DIRECTORY: Pattern = {
  regex: '^/(etc|opt|run|var/cache|var/lib)/[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'a directory of /etc, /opt, /run, /var/cache or /var/lib, such as /var/lib/kubelet',
};
export const NETWORK_INTERFACE: Pattern = {
  regex: '^[a-z][a-z0-9._-]{0,14}$',
  description: 'the name of a network interface, such as cni0',
};
/** A label key or a condition type: a name with an optional DNS prefix and slash. */
export const QUALIFIED_NAME: Pattern = {
  regex:
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$',
  description: 'a name such as example.com/NodeReady',
};

// Patterns of metadata, which the API server checks although they are not in the CRDs.
export const OBJECT_NAME: Pattern = {
  regex: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  description:
    'lower-case letters, digits, "-" and ".", with a letter or digit at both ends, such as prod-eu-1',
};
/** The UID of an object. It is a UUID; other programs than the API server may use other characters. */
export const OBJECT_UID: Pattern = {
  regex: '^[A-Za-z0-9_.-]{1,128}$',
  description: 'a UID, such as 0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11',
};
export const LABEL_KEY: Pattern = {
  regex: '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
  description: 'a key such as team or example.com/team, with at most 63 characters after the "/"',
};
export const LABEL_VALUE: Pattern = {
  regex: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
  description: 'letters, digits, "-", "_" and ".", with a letter or digit at both ends',
};

export const PATTERNS: readonly Pattern[] = [
  CLOCK_TIME,
  MOMENT,
  NUMBERED_VERSION,
  SHARE,
  REASON,
  CONDITION_REASON,
  DIGEST,
  SHA256,
  BACKUP_PATTERN,
  UUID,
  HTTPS_URL,
  FIELD_PATH,
  UNIT_NAME,
  ACCOUNT,
  PAUSED_OBJECT,
  BMC_URL,
  BMC_SYSTEM,
  HTTP_URL,
  ARTIFACT_URL,
  KUBERNETES_VERSION_PATTERN,
  COMMIT,
  CASE,
  STEP_VERSION,
  FACT_PATH,
  FINGERPRINT,
  COMPONENT_NAME,
  COMPONENT_VERSION,
  SIZE,
  SOCKET_PATH,
  STATE_DIRECTORY,
  NETWORK_INTERFACE,
  FILE_MODE,
  QUALIFIED_NAME,
  OBJECT_NAME,
  LABEL_KEY,
  LABEL_VALUE,
];
