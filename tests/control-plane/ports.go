package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// The kernel gives the ports from 32768 up to whoever connects to somewhere. One that was seen free there may be taken
// before, or while, a part restarts. Below, only servers are.
const (
	lowestPort  = 20000
	highestPort = 32000
)

// Finds `count` free ports on 127.0.0.1.
func freePorts(count int) ([]int, error) {
	var ports []int
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		// Held until all are found, so that none is found twice.
		defer listener.Close()
		ports = append(ports, port)
		if len(ports) == count {
			return ports, nil
		}
	}
	return nil, errors.New("no free ports on 127.0.0.1")
}
