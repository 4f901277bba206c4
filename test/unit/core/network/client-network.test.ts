import { describe, expect, it } from '@jest/globals'
import { clientNetworkOf } from '../../../../src/core/network/client-network.ts'

describe('the network that identifies a client', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('%s counts as %s', (address, network) => {
    expect(clientNetworkOf(address)).toBe(network)
  })

  it.each(['', 'unknown', 'example.com', '1', '127.1', '0x7f.0.0.1', '1.2.3.4.5', ':::', '2001:db8::g'])(
    '%j is not an address',
    text => {
      expect(clientNetworkOf(text)).toBeUndefined()
    },
  )
})
