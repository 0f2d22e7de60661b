/** Defines the types of what a component places on the host: artifacts and files. */
import { CLASSES } from '../enums.ts';
import { ARTIFACT_URL, COMPONENT_NAME, FILE_MODE, SHA256 } from '../patterns.ts';
import {
  CLUSTER_PLACEHOLDERS,
  DECLARED_PLACEHOLDERS,
  MACHINE_PLACEHOLDERS,
  placeholderList,
} from '../placeholders.ts';
import { bigInt, choice, list, name, named, rules, type Schema, text } from '../schema.ts';

const PLACEHOLDERS = placeholderList(
  ...MACHINE_PLACEHOLDERS,
  ...CLUSTER_PLACEHOLDERS,
  ...DECLARED_PLACEHOLDERS,
);

const URL = { max: 512, pattern: ARTIFACT_URL } as const;

function mode(sentence: string, usual: string): Schema {
  return text(sentence, { max: 4, pattern: FILE_MODE }).default(usual);
}

export const artifact = named('ComponentArtifact', 'An artifact for one platform.', {
  os: choice('Operating system.', ['linux', 'darwin', 'any']),
  arch: choice('Architecture.', ['amd64', 'arm64', 'any']),
  url: text(
    'URL of the artifact. Plain http is safe because sha256 pins the content. In a registry: oci://REGISTRY/REPOSITORY[:TAG][@sha256:MANIFEST].',
    URL,
  ),
  mirrors: list('Alternative URLs.', text('A URL.', URL), [0, 4]).default([]),
  sha256: text('SHA-256 digest of the content in hex: of the file, or of the layer in a registry.', {
    max: 64,
    pattern: SHA256,
  }),
  sizeBytes: bigInt('Size of the content in bytes.').optional(),
  format: choice(
    'Format of the content. Raw is placed in ${dir} under the name of the component, TarGz is unpacked there, and so is Oci, a layer of an image, without what makes sense only in the root of a container.',
    ['Raw', 'TarGz', 'Oci'],
  ).default('Raw'),
  install: list(
    'Links from the host into the directory of the version.',
    named('ComponentLink', 'A link.', {
      from: name('Path in the directory of the version.', 256),
      to: name('Path on the host.', 256),
      mode: mode('File mode.', '0755'),
    }),
    [0, 32],
  ).default([]),
});

export const file = rules(
  named('ComponentFile', 'A file on the host.', {
    path: name('Absolute path on the host.', 256),
    content: text(`Content of the file. Never put a token here. Replaced in it: ${PLACEHOLDERS}.`, {
      max: 65_536,
    }),
    mode: mode('File mode.', '0644'),
    owner: text('Owner as user:group.', { max: 128, min: 1 }).default('root:root'),
    merge: choice(
      'How the content is written. All modes but Replace keep the parts of the file that others wrote.',
      ['Replace', 'Block', 'Json', 'Ini'],
    ).default('Replace'),
    drift: choice('What to do when the file on the host differs.', ['Correct', 'Report', 'Ignore']).default(
      'Correct',
    ),
    onChange: choice('What a change of the content requires.', CLASSES).default('Restart'),
    units: list(
      'Units that onChange reloads or restarts. Empty: all units of the component.',
      text('Name of a unit of `units`.', { max: 63, pattern: COMPONENT_NAME }),
      [0, 8],
    ).default([]),
  }),
  {
    rule: "self.path.startsWith('/') && !self.path.contains('..') && (self.drift != 'Correct' || !self.path.startsWith('/var/lib/kubelet/pki'))",
    message:
      'path must be absolute and without "..", and files of the kubelet under /var/lib/kubelet/pki may not be corrected',
    fieldPath: '.path',
  },
  {
    rule: "size(self.units) == 0 || !(self.onChange in ['None', 'Reboot'])",
    message:
      'units has no effect with onChange None or Reboot: leave it out, or choose Reload, Restart or Drain',
    fieldPath: '.units',
  },
);
