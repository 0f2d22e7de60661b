/** The units of a component: what runs on the host. */
import { COMPONENT_NAME } from '../patterns.ts';
import { choice, flag, int, list, listMap, map, name, named, rules, type Schema, text } from '../schema.ts';

export function command(sentence: string, [min, max]: readonly [number, number], length = 256): Schema {
  return list(sentence, text('A word.', { max: length }), [min, max]);
}

export const unit = rules(
  named('ComponentUnit', 'A process or hook on the host.', {
    name: text('Name of the unit, without ".service".', { max: 63, pattern: COMPONENT_NAME }),
    type: choice(
      'Service keeps running. OneShot runs once with a time limit, for hooks, sysctls and kernel modules.',
      ['Service', 'OneShot'],
    ).default('Service'),
    enabled: flag('Whether the unit starts at boot.').default(true),
    running: flag('Whether the unit should run.').default(true),
    timeoutSeconds: int('Maximum run time of a OneShot.', [1, 3600]).default(300),
    exec: named('UnitExec', 'Process to run.', {
      argv: command('Command and arguments.', [1, 64], 512),
      env: map('Environment variables.', text('Value of the variable.', { max: 1024 }), 32).default({}),
      workingDirectory: text('Working directory.').optional(),
      user: name('User that runs the process.').default('root'),
    }).optional(),
    restart: named('UnitRestart', 'When the process is restarted.', {
      policy: choice('Restart policy.', ['Always', 'OnFailure', 'Never']).default('Always'),
      delaySeconds: int('Seconds before a restart.').default(5),
      maxPerMinute: int('Maximum number of restarts in a minute.').default(10),
    }).prefault({}),
    stop: named('UnitStop', 'How the process is stopped.', {
      signal: choice('Signal that is sent.', ['TERM', 'INT', 'QUIT', 'KILL']).default('TERM'),
      timeoutSeconds: int('Seconds after which the process is killed.').default(30),
    }).prefault({}),
    reload: named('UnitReload', 'How the process reloads its configuration.', {
      signal: choice('Signal that is sent.', ['HUP', 'USR1', 'USR2']).optional(),
      argv: command('Command to run instead of a signal.', [0, 64]).optional(),
    }).optional(),
    raw: text('Text of a systemd unit, instead of exec.', { max: 16_384 }).optional(),
    existing: flag(
      'true: the host already has this unit. It is started, restarted and extended by dropIns, and never removed. systemd only.',
    ).default(false),
    dropIns: listMap(
      'Drop-in files of the unit. systemd only.',
      ['name'],
      named('UnitDropIn', 'A drop-in file.', {
        name: name('File name without ".conf".'),
        content: text('Content of the file.', { max: 4096 }),
      }),
      [0, 4],
    ).default([]),
  }),
  {
    rule: '[has(self.exec), has(self.raw), self.existing].exists_one(x, x)',
    message:
      'give exactly one of exec, raw (text of a systemd unit) and existing: true (a unit that the host has)',
  },
  {
    rule: "!self.existing || self.type == 'Service'",
    message: 'an existing unit must have type Service: a OneShot is a unit of the component itself',
    fieldPath: '.type',
  },
);
