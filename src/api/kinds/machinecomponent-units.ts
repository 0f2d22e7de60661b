/** The units of a component: what runs on the host. */
import { COMPONENT_NAME } from '../patterns.ts';
import { choice, flag, int, list, listMap, map, name, named, rules, type Schema, text } from '../schema.ts';

export function command(sentence: string, [min, max]: readonly [number, number], length = 256): Schema {
  return list(sentence, text('A word of it.', { max: length }), [min, max]);
}

export const unit = rules(
  named('ComponentUnit', 'A process.', {
    name: text('Its name, without ".service".', { max: 63, pattern: COMPONENT_NAME }),
    type: choice('OneShot runs once, with a limit in time: hooks, sysctls, modules.', [
      'Service',
      'OneShot',
    ]).default('Service'),
    enabled: flag('Starts at boot.').default(true),
    running: flag('Runs now.').default(true),
    timeoutSeconds: int('How long a OneShot may run.', [1, 3600]).default(300),
    exec: named('UnitExec', 'What runs.', {
      argv: command('The command.', [1, 64], 512),
      env: map('Its environment.', text('The value.', { max: 1024 }), 32).default({}),
      workingDirectory: text('Where it runs.').optional(),
      user: name('As whom.').default('root'),
    }).optional(),
    restart: named('UnitRestart', 'When it is started again.', {
      policy: choice('When.', ['Always', 'OnFailure', 'Never']).default('Always'),
      delaySeconds: int('After how long.').default(5),
      maxPerMinute: int('How often at most.').default(10),
    }).prefault({}),
    stop: named('UnitStop', 'How it is stopped.', {
      signal: choice('The signal.', ['TERM', 'INT', 'QUIT', 'KILL']).default('TERM'),
      timeoutSeconds: int('After how long it is killed.').default(30),
    }).prefault({}),
    reload: named('UnitReload', 'How it reads its files again.', {
      signal: choice('The signal.', ['HUP', 'USR1', 'USR2']).optional(),
      argv: command('Or a command.', [0, 64]).optional(),
    }).optional(),
    raw: text('Text of a systemd unit, instead of exec.', { max: 16_384 }).optional(),
    existing: flag(
      'true: the host already has this unit. It is started, restarted and extended by dropIns, and never removed. systemd only.',
    ).default(false),
    dropIns: listMap(
      'Additions to a unit; systemd only.',
      ['name'],
      named('UnitDropIn', 'One addition.', {
        name: name('Name of the file.'),
        content: text('What is in it.', { max: 4096 }),
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
