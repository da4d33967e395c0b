import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  hasEnded,
  machineId,
  OPERATING_SYSTEM,
  type OperatingSystem,
  ownProcess,
  processIdentity,
  runs,
} from '../../../src/stores/files/this-machine';

/** As `ioreg` of macOS and `reg.exe` of Windows print it. */
const PRINTED = {
  darwin: `+-o J314sAP  <class IOPlatformExpertDevice, id 0x10000024d, registered, matched, active, busy 0 (9 ms), retain 45>
    {
      "IOPlatformSerialNumber" = "C02ABCDEFGH1"
      "IOPlatformUUID" = "564D1E2F-8C9A-4B7D-9E3F-0123456789AB"
      "model" = <"MacBookPro18,3">
    }
`,
  win32: `\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    0f8fad5b-d9cb-469f-a165-70867728950e\r\n\r\n`,
};

function simulated(platform: NodeJS.Platform, run: OperatingSystem['run']): OperatingSystem {
  return { platform, run };
}

const fails = async () => {
  throw Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' });
};

describe('the id of a machine', () => {
  it.each([
    ['darwin', '/usr/sbin/ioreg', '564D1E2F-8C9A-4B7D-9E3F-0123456789AB'],
    ['win32', 'reg.exe', '0f8fad5b-d9cb-469f-a165-70867728950e'],
  ] as const)('of %s is what no network changes', async (platform, program, id) => {
    const asked: string[] = [];
    const system = simulated(platform, async (command) => {
      asked.push(command);
      return PRINTED[platform];
    });
    expect(await machineId(system)).toBe(id);
    expect(asked).toEqual([program]);
  });

  it.each(['darwin', 'win32'] as const)('of %s is not there where it cannot be asked', async (platform) => {
    expect(await machineId(simulated(platform, fails))).toBeUndefined();
    expect(await machineId(simulated(platform, async () => 'something else'))).toBeUndefined();
  });
});

describe('the identity of a process', () => {
  it('is the same in every time zone and language of who asks, with `ps` as on macOS', async () => {
    const darwin = { ...OPERATING_SYSTEM, platform: 'darwin' } as const;
    const { TZ, LC_ALL } = process.env;
    try {
      const seen = [];
      for (const zone of ['America/New_York', 'Asia/Tokyo']) {
        Object.assign(process.env, { TZ: zone, LC_ALL: 'C.UTF-8' });
        seen.push(await processIdentity(process.pid, darwin));
      }
      expect(seen[0]).toMatch(/\d\d:\d\d:\d\d \d{4}$/);
      expect(seen[1]).toBe(seen[0]);
    } finally {
      for (const [name, value] of Object.entries({ TZ, LC_ALL })) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  it('is its start on Windows: a later process with the same id has another one', async () => {
    const system = simulated('win32', async (command, args) =>
      command === 'powershell.exe' && args.at(-1)?.includes(`-Id ${process.pid} `) === true
        ? '133771234567890123\r\n'
        : '',
    );
    expect(await processIdentity(process.pid, system)).toBe('133771234567890123');
  });

  it('that cannot be asked keeps a lock of a running process, and none of one that has ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    const hidden = await processIdentity(pid, simulated('win32', fails));
    expect(hidden).not.toBeNull();
    expect(await runs({ pid, identity: hidden })).toBe(true);
    expect(await runs({ pid, identity: 'of an earlier process' })).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await runs({ pid, identity: hidden })).toBe(false);
    expect(await processIdentity(pid, simulated('win32', fails))).toBeNull();
  });
});

describe('the end of a process', () => {
  it('is certain once a process of this host is gone, and of no other', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    await once(child, 'spawn');
    const named = await ownProcess();
    const identity = await processIdentity(child.pid!);
    if (named === undefined || identity === null)
      throw new Error('this host reveals nothing of its processes');
    const other = { ...named, pid: child.pid!, identity };
    expect(await hasEnded(named)).toBe(false);
    expect(await hasEnded(other)).toBe(false);
    // A later process with its ID is another one.
    expect(await hasEnded({ ...other, identity: 'earlier' })).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await hasEnded(other)).toBe(true);
    // Containers in the network of one host share its name, and another boot has the same numbers.
    expect(await hasEnded({ ...other, space: 'another' })).toBe(false);
    expect(await hasEnded({ ...other, identity: 'unknown' })).toBe(true);
  });
});
